import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Encrypted backups, as a person uses them.
@Suite("Encrypted backups")
struct EncryptionCommandTests {
    private let home: EncryptedHome

    init() throws { home = try EncryptedHome() }

    private var program: Program { home.program }
    private var key: String { home.key }
    private var recipient: String { home.recipient }

    private func encrypt(_ more: String...) throws -> Tool.Outcome { try home.encrypt(more) }

    private func archive() throws -> FilePath { try home.archive() }

    private func items() throws -> String { try program.run("items").text }

    private func leaks() throws -> [String] { try home.leaks() }

    @Test("A password without a recipient is warned about, and refused on the command line")
    func passwordAlone() throws {
        try program.configure("stores: ~/Stores\nremote: ~/Remote")
        let made = try program.run("backup", environment: ["GROCERYDUDE_PASSWORD": "Hefezopf"])
        #expect(made.status == 0 && made.errors.contains("is not encrypted"), "\(made.errors)")
        let refused = try program.run("backup", "--password-file", "/dev/null")
        #expect(refused.status == 64 && refused.errors.contains("--recipient password"))
    }

    @Test("A plain backup beside encrypted ones is refused unless a setting says so")
    func plainBesideEncrypted() throws {
        try program.configure("stores: ~/Stores\nremote: ~/Remote")
        let made = try program.expect("backup", "--recipient", recipient)
        #expect(made.text.hasSuffix(".age\n"))
        for arguments in [["backup"], ["backup", "--dry-run"]] {
            let refused = try program.expect(arguments, status: 64)
            #expect(refused.errors.contains("is encrypted, and this backup would not be"))
        }
        try program.expect("backup", "--recipient", "none")
        // The newest one is plain now, by choice.
        try program.expect("backup")
        let remote = try program.sandbox.contents(of: "Remote").paths
        #expect(remote.count { $0.hasSuffix(" Stores.zip") } == 2)
    }

    @Test("The password is in the environment of no other program")
    func withheld() throws {
        try program.configure(
            """
            stores: ~/Stores
            remote: ~/Remote
            recipients: [password]
            hooks: {backup: {before: 'env | grep -c ^GROCERYDUDE_PASSWORD=.; true'}}
            """
        )
        let made = try program.run("backup", environment: ["GROCERYDUDE_PASSWORD": "Hefezopf"])
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.errors.contains("before: 0\n"))
    }

    @Test(
        "A key of SSH with a passphrase is refused with a way that helps",
        .enabled(if: Tool.isInstalled("ssh-keygen"), "ssh-keygen is not installed")
    )
    func lockedKey() throws {
        let path = program.sandbox.path("locked key").string
        try Tool.check("ssh-keygen", ["-q", "-t", "ed25519", "-N", "secret", "-f", path])
        let recipient = String(decoding: try program.sandbox.read("locked key.pub"), as: UTF8.self)
        try program.expect("backup", "--quiet", "--recipient", recipient)
        let restore = ["restore", "latest", "--target", "T", "--identity", path]
        let locked = try program.expect(restore, status: 12).errors
        #expect(locked.contains("'ssh-keygen -p -f COPY'"), "\(locked)")
        #expect(locked.contains("age -d -i '\(path)' ") && !locked.contains("another backup"))
        // Another backup helps as little if the file is no key at all.
        try program.sandbox.write("no key", to: "locked key")
        let bad = try program.expect(restore, status: 12).errors
        #expect(bad.contains("hint: ") && !bad.contains("another backup"), "\(bad)")
        let signing = ["backup", "--set", "signing_key=\(path)", "--recipient", "none"]
        try Tool.check("rm", [path])
        try Tool.check("ssh-keygen", ["-q", "-t", "ed25519", "-N", "secret", "-f", path])
        #expect(try program.expect(signing, status: 12).errors.contains("ssh-add '\(path)'"))
    }

    @Test("A backup for a key is opened by that key, and shows nothing without it")
    func roundTrip() throws {
        let made = try encrypt()
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.text.hasSuffix("Stores.zip.age\n"))
        #expect(try leaks().isEmpty)

        let list = try program.run("list", "--json")
        let row = try #require((list.json as? [[String: Any]])?.first)
        #expect(row["encrypted"] as? Bool == true)
        #expect(row["damaged"] as? Bool == false)

        for command in [["show", "latest"], ["check", "latest"], ["restore", "latest", "--yes"]] {
            let refused = try program.run(command)
            #expect(refused.status == 12, "\(command): \(refused.errors)")
            let opened = try program.run(command + ["--identity", key])
            #expect(opened.status == 0, "\(command): \(opened.errors)")
        }
        let checked = try program.run("check", "--all", "--restore", "--identity", key)
        #expect(checked.status == 0, "\(checked.errors)")
        #expect(try items().contains(EncryptedHome.plaintext))
        #expect(try leaks() == [])
    }

    @Test("An encrypted backup restores lost data")
    func restore() throws {
        _ = try encrypt()
        _ = try program.run("items", "remove", EncryptedHome.plaintext)
        #expect(try !items().contains(EncryptedHome.plaintext))
        let restored = try program.run(
            ["restore", "latest", "--yes"],
            environment: ["GROCERYDUDE_IDENTITY": key, "GROCERYDUDE_RECIPIENTS": recipient]
        )
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try items().contains(EncryptedHome.plaintext))
        // The safety backup is encrypted too.
        #expect(try leaks() == [])
    }

    @Test("Another machine lists a backup that it cannot read as encrypted")
    func withoutKey() throws {
        _ = try encrypt()
        try LocalFileSystem().remove(program.sandbox.path(".cache"))
        let row = try #require(
            (try program.run("list", "--json").json as? [[String: Any]])?.first
        )
        #expect(row["sealed"] as? Bool == true)
        #expect(row["damaged"] as? Bool == false)
        #expect(row["time_source"] as? String == "name")
        #expect(try program.run("list").text.contains("encrypted, content unknown"))
        let known = try program.run("list", "--json", "--identity", key)
        let second = try #require((known.json as? [[String: Any]])?.first)
        #expect(second["sealed"] as? Bool == false)
        #expect(second["time_source"] as? String == "manifest")
    }

    @Test(
        "age decrypts an encrypted backup, and unzip opens the result",
        .enabled(if: Tool.isInstalled("age") && Tool.isInstalled("unzip"), "age is not installed")
    )
    func tools() throws {
        _ = try encrypt()
        let zip = program.sandbox.path("plain.zip").string
        try Tool.check("age", ["-d", "-i", key, "-o", zip, archive().string])
        try Tool.check("unzip", ["-tq", zip])
    }

    @Test(
        "rage decrypts an encrypted backup, and the program opens what rage encrypts",
        .enabled(if: Tool.isInstalled("rage"), "rage is not installed")
    )
    func rage() throws {
        _ = try encrypt()
        let archive = try archive()
        let zip = program.sandbox.path("plain.zip").string
        try Tool.check("rage", ["-d", "-i", key, "-o", zip, archive.string])
        try LocalFileSystem().remove(archive)
        try Tool.check("rage", ["-r", recipient, "-o", archive.string, zip])
        let checked = try program.run("check", "--identity", key)
        #expect(checked.status == 0, "\(checked.errors)")
    }

    @Test("A password encrypts a backup and opens it again, and a wrong one does not")
    func password() throws {
        let right = ["GROCERYDUDE_PASSWORD": "milk and honey"]
        let made = try program.run("backup", "--recipient", "password", environment: right)
        #expect(made.status == 0, "\(made.errors)")
        #expect(try program.run("check", environment: right).status == 0)
        #expect(try program.run("check").status == 12)
        let wrong = try program.run("check", environment: ["GROCERYDUDE_PASSWORD": "milk"])
        #expect(wrong.status == 12)
        #expect(wrong.errors.contains("the password does not open it"))
        let file = try program.sandbox.write("milk and honey\n", to: "password.txt").string
        #expect(try program.run("check", "--password-file", file).status == 0)
        #expect(try program.run("check", "--password-command", "cat '\(file)'").status == 0)
        // Editors of Windows write marks of the encoding.
        try program.sandbox.write(
            [0xEF, 0xBB, 0xBF] + Array("milk and honey\r\n".utf8),
            to: "password.txt"
        )
        #expect(try program.run("check", "--password-file", file).status == 0)
        try program.sandbox.write([0xFF, 0xFE] + Array("m\0i\0".utf8), to: "password.txt")
        let wide = try program.run("check", "--password-file", file)
        #expect(wide.status == 12 && wide.errors.contains("is in UTF-16"), "\(wide.errors)")
        #expect(try program.run("check", "--password-command", "false").status == 12)
        #expect(try program.run("backup", "--recipient", "password").status == 12)
        #expect(try leaks().filter { !$0.hasPrefix("password.txt") } == [])
    }

    @Test("A signal ends the wait for a password's command", arguments: [SIGINT, SIGTERM])
    func signalWhileCommand(number: Int32) throws {
        let right = ["GROCERYDUDE_PASSWORD": "milk and honey"]
        let made = try program.run("backup", "--recipient", "password", environment: right)
        #expect(made.status == 0, "\(made.errors)")
        let script = """
            exec '\(Program.path)' check --password-command 'echo waiting >&2; exec sleep 600' 2>&1
            """
        let running = try RunningTool(
            "/bin/sh",
            ["-c", script],
            environment: program.environment
        )
        while let line = try running.readLine(), line != "waiting" {}
        running.signal(number)
        #expect(running.wait() == 128 + number)
    }

    @Test(
        "A terminal asks for a password, and twice if it is new",
        .enabled(if: Terminal.isThere, "python3 is not installed")
    )
    func prompt() throws {
        let command = [Program.path, "backup", "--recipient", "password"]
        let made = try Terminal.run(command, answering: ["figs", "figs"], program)
        #expect(made.status == 0, "\(made.text)")
        #expect(!made.text.contains("figs"))
        let differ = try Terminal.run(command, answering: ["figs", "dates"], program)
        #expect(differ.status == 12)
        let checked = try Terminal.run([Program.path, "check"], answering: ["figs"], program)
        #expect(checked.status == 0, "\(checked.text)")
        // Ctrl-C at the question.
        let stopped = try Terminal.run([Program.path, "check"], answering: ["\u{3}"], program)
        #expect(stopped.status == 130, "\(stopped.text)")
    }

    @Test("The advice for a new key shows the key itself")
    func advice() throws {
        let made = try program.run("key", "generate", "--output", "advised.txt")
        let key = String(made.text.dropLast())
        #expect(made.errors.contains("'recipients: [\(key)]'"), "\(made.errors)")
        let print = "'grocerydude key print --identity advised.txt'"
        #expect(made.errors.contains(print), "\(made.errors)")
    }

    @Test("A flipped bit in any part of the file is damage, and so is a truncated file")
    func damage() throws {
        _ = try encrypt()
        let path = try archive()
        let good = try File.contents(of: path, limit: 1 << 30)
        for place in [30, good.count / 2, good.count - 20] {
            var bad = good
            bad[place] ^= 4
            try replace(path, with: bad)
            let checked = try program.run("check", "--identity", key)
            // A wrapped key that was changed looks like one for somebody else.
            let isHeader = place < 100
            #expect(checked.status == (isHeader ? 12 : 20), "\(place): \(checked.errors)")
            let restored = try program.run("restore", "latest", "--yes", "--identity", key)
            #expect(restored.status == (isHeader ? 12 : 20), "\(place): \(restored.errors)")
            #expect(try items().contains(EncryptedHome.plaintext))
        }
        try replace(path, with: Array(good.dropLast(1000)))
        #expect(try program.run("check", "--identity", key).status == 20)
        try replace(path, with: good)
        #expect(try program.run("check", "--identity", key).status == 0)
    }

    private func replace(_ path: FilePath, with bytes: [UInt8]) throws {
        try LocalFileSystem().remove(path)
        try LocalFileSystem().write(bytes, to: path)
    }

    @Test("Bad recipients are refused before any work, and a secret is not shown")
    func badRecipients() throws {
        let secret = try #require(
            String(decoding: program.sandbox.read("key.txt"), as: UTF8.self)
                .split(separator: "\n").last.map(String.init)
        )
        let hybrid = try program.run("key", "generate", "--post-quantum", "--output", "pq.txt")
        #expect(hybrid.status == 0)
        for recipients in [
            [secret], ["age1abc"], ["nofile.txt"], ["password", recipient],
            [recipient, String(hybrid.text.dropLast())],
        ] {
            let outcome = try program.run(
                ["backup"] + recipients.flatMap { ["--recipient", $0] }
            )
            #expect(outcome.status != 0, "\(recipients)")
            #expect(!outcome.errors.contains("SECRET-KEY"))
            #expect(!outcome.text.contains("SECRET-KEY"))
        }
        #expect(try Directory.open(program.sandbox.path("Remote")).names().isEmpty)
        let made = try program.run("backup", "--recipient", String(hybrid.text.dropLast()))
        #expect(made.status == 0, "\(made.errors)")
        #expect(try program.run("check", "--identity", "pq.txt").status == 0)
    }

    @Test("A key that others can read is reported, and a key file is never overwritten")
    func keyFiles() throws {
        #expect(try FileInfo(of: FilePath(key)).mode == 0o600)
        #expect(try program.run("key", "generate", "--output", key).status == 1)
        #expect(chmod(key, 0o644) == 0)
        _ = try encrypt()
        let checked = try program.run("check", "--identity", key)
        #expect(checked.status == 0)
        #expect(checked.errors.contains("can be read by others"))
        #expect(try program.run("key", "list", "--identity", key).text.contains(recipient))
        let paper = try program.run("key", "print", "--identity", key)
        #expect(paper.text.contains("AGE-SE CRET-K EY-1"))
    }

    @Test("The default key file is found, and 'key check' lists the backups that it opens")
    func keyCheck() throws {
        let usual = try program.run("key", "generate")
        #expect(usual.status == 0, "\(usual.errors)")
        _ = try program.run("backup", "--recipient", String(usual.text.dropLast()))
        _ = try program.run("backup", "--recipient", "none")
        #expect(try program.run("key", "check", "--all").status == 0)
        _ = try encrypt()
        let checked = try program.run("key", "check", "--all", "--json")
        #expect(checked.status == 12)
        let rows = try #require(checked.json as? [[String: Any]])
        #expect(rows.count { $0["opens"] as? Bool == true } == 2)
        #expect(rows.count { $0["encrypted"] as? Bool == true } == 2)
    }

    @Test("A rotation encrypts a folder for a new key, and the old key opens nothing in it")
    func rotate() throws {
        _ = try encrypt()
        _ = try program.run("pin", "latest")
        _ = try program.run("items", "add", "Dates")
        _ = try encrypt()
        _ = try program.run("backup", "--recipient", "none")
        let new = try program.run("key", "generate", "--output", "new.txt")
        let recipient = ["--recipient", String(new.text.dropLast())]
        let refused = try program.run(["key", "rotate"] + recipient)
        #expect(!refused.text.contains("encrypted again"))
        let names = try Set(Directory.open(program.sandbox.path("Remote")).names())
        let rotated = try program.run(["key", "rotate", "--identity", key] + recipient)
        #expect(rotated.status == 0, "\(rotated.errors)\(rotated.text)")
        let now = try Set(Directory.open(program.sandbox.path("Remote")).names())
        #expect(names.isSubset(of: now))
        #expect(now.subtracting(names).map(\.description) == [".grocerydude-trash"])
        let opens = try program.run("key", "check", "--all", "--identity", "new.txt")
        #expect(opens.status == 0, "\(opens.text)")
        #expect(try program.run("check", "--all", "--identity", "new.txt").status == 0)
        #expect(try program.run("list").text.contains("pinned"))
        let old = try program.run("key", "check", "--all", "--identity", key, "--json")
        let rows = try #require(old.json as? [[String: Any]])
        #expect(
            rows.count { $0["encrypted"] as? Bool == true && $0["opens"] as? Bool == true } == 0
        )
        // Once more, there is nothing to do.
        let again = try program.run(["key", "rotate", "--identity", key] + recipient)
        #expect(again.status == 12 && !again.text.contains("encrypted again"))
        #expect(again.errors.contains("see 'grocerydude key check --all'"), "\(again.errors)")
        // What the old key opens is gone for good by the command that the page names.
        let tried = try program.run("prune", "--set", "retention.keep_trash=0s", "--dry-run")
        #expect(tried.status == 0, "\(tried.errors)")
        #expect(tried.errors.contains("2 deleted backups would be removed from the trash"))
        let emptied = try program.run("prune", "--set", "retention.keep_trash=0s")
        #expect(emptied.status == 0, "\(emptied.errors)")
        let trash = program.sandbox.path("Remote/.grocerydude-trash")
        #expect(try Directory.open(trash).names().isEmpty)
        let left = try Set(Directory.open(program.sandbox.path("Remote")).names())
        #expect(left.isSuperset(of: names))
        #expect(try program.run("prune").status == 64)
    }

    @Test("Increments are encrypted, and restore")
    func increments() throws {
        let recipients = ["GROCERYDUDE_RECIPIENTS": recipient]
        // For less than this, a whole backup is as good.
        var random = Pseudorandom(seed: 15)
        try program.sandbox.write(random.bytes(18 << 20), to: "Stores/large")
        for round in 0..<3 {
            _ = try program.run("items", "add", "Item \(round)")
            let made = try program.run("backup", "--incremental", environment: recipients)
            #expect(made.status == 0, "\(made.errors)")
        }
        #expect(try leaks() == [])
        let list = try program.run("list", "--json", "--identity", key)
        let rows = try #require(list.json as? [[String: Any]])
        #expect(rows.allSatisfy { $0["encrypted"] as? Bool == true })
        #expect(rows.count { $0["kind"] as? String == "increment" } == 2)
        let checked = try program.run("check", "--all", "--restore", "--identity", key)
        #expect(checked.status == 0, "\(checked.errors)")
        // The last is built on what is encrypted again since, and nothing of the old key is left.
        let new = try program.run("key", "generate", "--output", "new.txt")
        let rotated = try program.run(
            ["key", "rotate", "--identity", key, "--recipient", String(new.text.dropLast())]
        )
        #expect(rotated.status == 0, "\(rotated.errors)")
        _ = try program.run("items", "add", "Item 3")
        let next = try program.run(
            "backup",
            "--incremental",
            "--recipient",
            String(new.text.dropLast())
        )
        #expect(next.text.contains("Changes.zip.age"), "\(next.errors)")
        let emptied = try program.run("prune", "--set", "retention.keep_trash=0s", "--json")
        #expect(emptied.status == 0, "\(emptied.errors)")
        let pruned = try #require(emptied.json as? [String: Any])
        let trash = try #require(pruned["trash"] as? [String: Any])
        #expect((trash["removed"] as? [String])?.count == 3, "\(trash)")
        let key = "new.txt"
        let all = try program.run("check", "--all", "--restore", "--identity", key)
        #expect(all.status == 0, "\(all.errors)")
        // One that others may be built on stays a day, and it is said why.
        #expect(try program.run("delete", "latest", "--yes").status == 0)
        let kept = try program.run("prune", "--set", "retention.keep_trash=0s")
        #expect(kept.errors.contains("stays in the trash: another machine"), "\(kept.errors)")
        let whole = try program.run("consolidate", "latest", "--identity", key)
        #expect(whole.status == 0, "\(whole.errors)")
        #expect(try leaks() == [])
        let again = try program.run("check", "latest", "--restore", "--identity", key)
        #expect(again.status == 0, "\(again.errors)")
    }

    @Test("A prune treats a backup that this machine cannot read by what it wrote, and reports it")
    func pruning() throws {
        _ = try encrypt()
        _ = try program.run("items", "add", "Dates")
        let pruned = try encrypt("--prune", "--keep-last", "1")
        #expect(pruned.status == 0, "\(pruned.errors)")
        #expect(pruned.errors.contains("verified by its size"))
        let list = try program.run("list", "--json")
        let rows = try #require(list.json as? [[String: Any]])
        #expect(rows.count == 1)
    }
}
