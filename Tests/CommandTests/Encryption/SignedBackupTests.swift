import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Backups that this machine and others signed, and such that nobody did.
@Suite("Signed backups", .enabled(if: hasTools, "python3 or ssh-keygen is not there"))
struct SignedBackupTests {
    private let program: Program
    private let places = ["--stores", "Stores", "--remote", "Remote"]

    init() throws {
        program = try Program()
        try program.sandbox.directory("Remote")
        try program.sandbox.directory("Stores")
        try write("mine")
        let made = try Tool.run(
            "ssh-keygen",
            ["-q", "-t", "ed25519", "-N", "", "-f", program.sandbox.path("other").string]
        )
        #expect(made.status == 0)
    }

    private func write(_ text: String) throws {
        let store = program.sandbox.path("Stores/a.sqlite")
        let sql = "CREATE TABLE IF NOT EXISTS t(x); DELETE FROM t; INSERT INTO t VALUES('\(text)')"
        try StoreApplication(on: store, sql).end()
    }

    /// Makes an archive by the format's page alone, a minute after now.
    private func forge(_ changes: String..., key: String? = "other") throws {
        let script = Fixtures.path.appending("signatures/forge.py").string
        let output = program.sandbox.path("Remote/[2098-Jan-01] 09.00 AM Stores.zip").string
        let key = key.map { program.sandbox.path($0).string } ?? "-"
        let outcome = try Tool.run("python3", [script, output, key] + changes)
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    private func run(_ arguments: String...) throws -> Tool.Outcome {
        try program.run(arguments + places)
    }

    private func rows() throws -> [[String: Any]] {
        try #require(try run("list", "--json").json as? [[String: Any]])
    }

    @Test("ssh-keygen verifies a signed backup, as the page of the format says")
    func byTheirPage() throws {
        #expect(try run("backup").status == 0)
        let name = try #require(try rows().first?["name"] as? String)
        let trust = try #require(try run("trust", "--json").json as? [[String: Any]])
        let key = try #require(trust.first?["key"] as? String)
        try program.sandbox.write("me \(key)\n", to: "allowed")
        let verified = try Tool.run(
            "sh",
            [
                "-c",
                """
                unzip -p "$1" .grocerydude/signature > sig &&
                    unzip -p "$1" .grocerydude/manifest.json |
                    ssh-keygen -Y verify -f allowed -I me -n grocerydude-backup -s sig
                """, "sh", "Remote/\(name)",
            ],
            directory: program.sandbox.path
        )
        #expect(verified.status == 0, "\(verified.errors)")
    }

    @Test(
        "A backup with an invalid signature does not count, and is never the latest",
        arguments: ["cut", "namespace", "other-manifest", "twice", "sha512", ""]
    )
    func distrusted(change: String) throws {
        #expect(try run("backup").status == 0)
        try forge(change)
        let forged = try #require(try rows().first { "\($0["name"] ?? "")".contains("2098") })
        #expect(forged["own"] as? Bool == false && forged["signer"] == nil)
        let reason = try #require(forged["distrust"] as? String)
        let isSound = ["sha512", ""].contains(change)
        #expect(reason.contains(isSound ? "not signed by a known machine" : "does not hold"))
        // That is no damage.
        let check = try run("check", "2098")
        #expect(check.status == 0 && check.text.contains("note  it"), "\(check.text)")
        try write("changed")
        let restore = try run("restore", "latest", "--yes")
        #expect(restore.status == 0, "\(restore.errors)")
        #expect(!restore.errors.contains("restoring from '[2098"), "\(restore.errors)")
        #expect(try run("prune", "--keep-last", "1").status == 0)
        #expect(try rows().contains { $0["own"] as? Bool == true })
        #expect(try run("status", "--max-age", "1h").status == 0)
        // By its name it can be had, and what it is is said.
        let named = try run("restore", "2098", "--target", "Target")
        #expect(
            named.status == 0
                && named.errors.contains("is not trusted: ")
        )
    }

    @Test("A backup does not count if its base lost its signature")
    func unsignedBase() throws {
        let store = program.sandbox.path("Stores/a.sqlite")
        let rows = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 180)"
        try StoreApplication(
            on: store,
            "CREATE TABLE big(x); \(rows) INSERT INTO big SELECT randomblob(100000) FROM n"
        ).end()
        #expect(try run("backup", "--incremental", "--quiet").status == 0)
        let base = try #require(try self.rows().first?["name"] as? String)
        try write("changed")
        #expect(try run("backup", "--incremental", "--quiet").status == 0)
        #expect(try self.rows().first?["kind"] as? String == "increment")
        #expect(try self.rows().allSatisfy { $0["own"] as? Bool == true })
        let script = Fixtures.path.appending("signatures/unsign.py").string
        let remote = program.sandbox.path("Remote/\(base)").string
        // A twin that somebody planted beside the base changes nothing.
        let twin = "Remote/[2026-Nov-26] 01.00 PM Stores.zip"
        try program.sandbox.write(program.sandbox.read("Remote/\(base)"), to: twin)
        #expect(try Tool.run("python3", [script, program.sandbox.path(twin).string]).status == 0)
        #expect(try self.rows().first?["own"] as? Bool == true)
        let restored = try run("restore", "latest", "--yes", "--target", "Beside")
        #expect(restored.status == 0, "\(restored.errors)")
        try LocalFileSystem().remove(program.sandbox.path(twin))
        #expect(try Tool.run("python3", [script, remote]).status == 0)
        let listed = try self.rows()
        #expect(listed.allSatisfy { $0["own"] as? Bool == false })
        #expect(listed.allSatisfy { "\($0["distrust"] ?? "")".contains("it is not signed") })
        #expect(try run("list").text.contains("built on one that is not signed"))
        let shown = try #require(try run("show", "latest", "--json").json as? [String: Any])
        #expect("\(shown["distrust"] ?? "")".contains("built on"))
        let refused = try run("restore", "latest", "--yes")
        #expect(refused.status == 21 && refused.errors.contains("built on"), "\(refused.errors)")
        #expect(refused.errors.contains("was replaced since"), "\(refused.errors)")
        #expect(try run("status").text.contains("none that is good"))
        // The next one is whole, and needs none of them.
        let next = try run("backup", "--incremental")
        #expect(next.status == 0 && !next.errors.contains("trust add"), "\(next.errors)")
        let newest = try #require(try self.rows().first)
        #expect(newest["kind"] as? String == "full" && newest["own"] as? Bool == true)
    }

    @Test("Lists and questions name plain backups if the trusted ones are encrypted")
    func plainAmongEncrypted() throws {
        let password = ["GROCERYDUDE_PASSWORD": "milk and honey"]
        let made = try program.run(
            ["backup", "--recipient", "password"] + places,
            environment: password
        )
        #expect(made.status == 0, "\(made.errors)")
        try forge()
        let list = try run("list").text
        #expect(list.contains("not encrypted, as the others are"), "\(list)")
        let named = try run("restore", "2098", "--target", "Target")
        #expect(named.errors.contains("not encrypted, as the others are"), "\(named.errors)")
    }

    @Test("The trust list shows the machines whose lines do not trust them now")
    func refusedLines() throws {
        #expect(try run("backup", "--quiet").status == 0)
        let key = try program.sandbox.read("other.pub")
        let words = String(decoding: key, as: UTF8.self).split(separator: " ")
        let public_ = "\(words[0]) \(words[1])"
        try program.sandbox.write(
            """
            git namespaces="git" \(public_)
            old valid-before="20200101" \(public_)
            new valid-after="20980101" \(public_)
            good \(public_)

            """,
            to: ".config/grocerydude/allowed_signers"
        )
        let lines = try run("trust").text.split(separator: "\n").map(String.init)
        #expect(lines.count == 5)
        let refused = lines.dropFirst().map { $0.contains("NOT TRUSTED: ") }
        #expect(refused == [true, true, true, false], "\(lines)")
    }

    @Test(
        "A signed backup is refused if its manifest names more or less than it contains",
        arguments: ["unlisted", "more-listed"]
    )
    func otherEntries(change: String) throws {
        try forge(change)
        let refused = try run("restore", "2098", "--target", "Target")
        #expect(refused.status == 21)
        #expect(!program.sandbox.exists("Target"))
    }

    @Test("A backup of an unknown signer is the latest if no other exists and a person agrees")
    func onlyForged() throws {
        try forge()
        // This machine knows nobody yet.
        let first = try run("restore", "latest", "--target", "Target")
        #expect(first.status == 0 && first.errors.contains("SHA256:"), "\(first.errors)")
        #expect(try run("backup").status == 0)
        let own = try #require(try rows().first { $0["own"] as? Bool == true })
        try LocalFileSystem().remove(
            program.sandbox.path("Remote/\(try #require(own["name"] as? String))")
        )
        let refused = try run("restore", "latest", "--yes")
        #expect(refused.status == 21, "\(refused.errors)")
        #expect(refused.errors.contains("is the newest, but it is not signed by a known machine"))
    }

    @Test("Another machine's backup counts only while that machine is trusted")
    func trusting() throws {
        try forge("origin=0123456789abcdef0123456789abcdef")
        #expect(try run("trust", "add", "nobody", "--yes").status == 10)
        let added = try run("trust", "add", "forged:/srv", "--yes")
        #expect(added.status == 0 && added.text.contains("SHA256:"), "\(added.errors)")
        #expect(try rows().first?["signer"] as? String == "forged:/srv")
        #expect(try run("trust").text.contains("forged:/srv"))
        // It is still of another origin.
        #expect(try rows().first?["own"] as? Bool == false)
        #expect(try run("list", "--origin", "forged:/srv").text.contains("2098"))
        #expect(try run("list", "--origin", "other:/srv").text.isEmpty)
        #expect(try run("trust", "remove", "forged:/srv").status == 0)
        #expect(try rows().first?["distrust"] != nil)
        try program.sandbox.write("x y z\n", to: ".config/grocerydude/allowed_signers")
        let wrong = try run("trust")
        #expect(wrong.status != 0 && wrong.errors.contains("allowed_signers', line 1:"))
    }

    @Test("A restore accepts only backups of the named signer")
    func signer() throws {
        let other = "SHA256:" + String(repeating: "x", count: 43)
        #expect(try run("backup").status == 0)
        let fingerprint =
            try #require(
                try run("key", "list", "--json").json as? [String: Any]
            )["signs"] as? String
        let right = try run(
            "restore",
            "latest",
            "--signer",
            fingerprint ?? "",
            "--target",
            "Right"
        )
        #expect(right.status == 0, "\(right.errors)")
        let wrong = try run("restore", "latest", "--signer", other, "--target", "Wrong")
        #expect(wrong.status == 21 && wrong.errors.contains("\(other) did not sign it"))
        #expect(!program.sandbox.exists("Wrong"))
    }

    @Test(
        "A backup stays trusted after a change of the key, here and on a machine with the old key"
    )
    func rotation() throws {
        #expect(try run("backup").status == 0)
        let old = try #require(
            (try run("trust", "--json").json as? [[String: Any]])?.first?["key"] as? String
        )
        #expect(try run("key", "rotate", "--signing").status == 0)
        try write("later")
        #expect(try run("backup").status == 0)
        #expect(try rows().allSatisfy { $0["own"] as? Bool == true })
        // Another machine, which trusts the old key alone.
        try program.sandbox.write("nas \(old)\n", to: "Else/.config/grocerydude/allowed_signers")
        let list = try program.run(
            ["list", "--json"] + places,
            environment: ["HOME": program.sandbox.path("Else").string]
        )
        let rows = try #require(list.json as? [[String: Any]])
        #expect(rows.count == 2 && rows.allSatisfy { $0["signer"] as? String == "nas" })
    }

    @Test(
        "A person can agree to continue the backups of an earlier system of the same name",
        .enabled(if: Terminal.isThere, "python3 is not installed"),
        arguments: ["y", "n", nil]
    )
    func continued(answer: String?) throws {
        try program.configure("stores: ~/Stores\nremote: ~/Remote\n")
        let host = ProcessInfo.processInfo.hostName
        let name = "\(host):\(try program.sandbox.path("Stores").resolved())"
        try forge("origin=0123456789abcdef0123456789abcdef", "name=\(name)")
        guard let answer else {
            let backup = try program.run("backup")
            #expect(backup.status == 3, "\(backup.errors)")
            #expect(backup.errors.contains("to continue its backups"), "\(backup.errors)")
            #expect(try !program.expect("backup").errors.contains("to continue"))
            return
        }
        let backup = try Terminal.run([Program.path, "backup"], answering: [answer], program)
        #expect(backup.status == 0 && backup.text.contains("Continue them?"), "\(backup.text)")
        let count = try rows().filter { $0["own"] as? Bool == true }.count
        #expect(count == (answer == "y" ? 2 : 1))
        let piece = ".config/grocerydude/config.d/_common.yaml"
        #expect(program.sandbox.exists(piece) == (answer == "y"))
        if answer == "y" {
            let text = String(decoding: try program.sandbox.read(piece), as: UTF8.self)
            #expect(text.hasSuffix("\norigin: \"\(name)\"\n"), "\(text)")
        }
        let own = String(decoding: try program.sandbox.read(Program.configuration), as: UTF8.self)
        #expect(own == "stores: ~/Stores\nremote: ~/Remote\n")
        // It is asked once.
        let again = try Terminal.run([Program.path, "backup"], answering: [], program)
        #expect(again.status == 0 && !again.text.contains("Continue"), "\(again.text)")
    }

    @Test(
        "A person can trust a lost key's backups so that this machine continues them",
        .enabled(if: Terminal.isThere, "python3 is not installed")
    )
    func lostKey() throws {
        #expect(try run("backup").status == 0)
        for name in [".local/state", ".cache"] {
            try LocalFileSystem().remove(program.sandbox.path(name))
        }
        let command = [Program.path, "backup"] + places
        let backup = try Terminal.run(command, answering: ["y"], program)
        #expect(backup.status == 0 && backup.text.contains("another key"), "\(backup.text)")
        #expect(try rows().filter { $0["own"] as? Bool == true }.count == 2)
    }

    @Test(
        "A backup of an add-only machine is fetched from a server, and pruned by what it signed",
        .enabled(if: ServedDirectory.isAvailable, "rclone is not installed")
    )
    func fetched() throws {
        for _ in 0..<2 { #expect(try run("backup").status == 0) }
        try forge()
        try program.sandbox.directory("Guard")
        let guarded = ["HOME": program.sandbox.path("Guard").string]
        let server = try ServedDirectory(program.sandbox.path("Remote"))
        let keep = program.sandbox.path("Keep").string
        func guarding(_ arguments: String...) throws -> Tool.Outcome {
            let outcome = try program.run(arguments, environment: guarded)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
            return outcome
        }
        try program.sandbox.directory("Keep")
        _ = try guarding("copy", "--all", "--remote", server.address, "--to", keep)
        let prune = ["prune", "--remote", keep, "--keep-last", "1", "--json"]
        func removed() throws -> Int {
            let outcome = try program.run(prune, environment: guarded)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let answer = try #require(outcome.json as? [String: Any])
            return (answer["remove"] as? [Any])?.count ?? -1
        }
        #expect(try removed() == 0)
        let name = try #require(
            try rows().compactMap { $0["origin"] as? String }.first { $0 != "forged:/srv" }
        )
        _ = try guarding("trust", "add", name, "--remote", keep, "--yes")
        // The one that nobody known signed is the newest, and stays beside the newest of the machine.
        #expect(try removed() == 1)
        #expect(try removed() == 0)
    }

    @Test(
        "A machine that cannot keep a key makes unsigned backups, and a key can be made in advance"
    )
    func withoutKey() throws {
        let key = try program.expect("key", "generate", "--signing")
        #expect(key.text.hasPrefix("ssh-ed25519 "))
        let again = try program.run("key", "generate", "--signing")
        #expect(again.status != 0 && again.errors.contains("key rotate --signing"))
        #expect(try run("trust").text.contains("this machine"))
        #expect(try run("backup").status == 0)
        #expect(try rows().allSatisfy { $0["signer"] as? String == "this machine" })
        let file = program.sandbox.path("File").string
        try program.sandbox.write("in the way", to: "File")
        func runWithoutState(_ arguments: String...) throws -> Tool.Outcome {
            try program.run(arguments + places, environment: ["XDG_STATE_HOME": file])
        }
        let unsigned = try runWithoutState("backup")
        #expect(unsigned.status == 3, "\(unsigned.errors)")
        #expect(unsigned.errors.contains("the backup is not signed"), "\(unsigned.errors)")
        // An undo would pass the unsigned safety backup over.
        let restored = try runWithoutState("restore", "latest", "--yes")
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(restored.errors.contains("to undo, run \"grocerydude restore --stores /"))
    }

    /// Runs the program as another machine, whose stores directory is another one.
    private func runElsewhere(
        _ arguments: String...,
        environment: [String: String] = [:]
    ) throws -> Tool.Outcome {
        let home = ["HOME": try program.sandbox.directory("Other home").string]
        return try program.run(
            arguments + ["--stores", "Other", "--remote", "Remote"],
            environment: home.merging(environment) { $1 }
        )
    }

    private func makeOtherStores() throws {
        try program.sandbox.directory("Other")
        try StoreApplication(on: program.sandbox.path("Other/b.sqlite"), "CREATE TABLE t(x)").end()
    }

    @Test("A machine that knows nobody counts its own backups for their age, and no other's")
    func ageWithoutKey() throws {
        #expect(try run("backup").status == 0)
        try makeOtherStores()
        let none = try runElsewhere("status", "--max-age", "1h")
        #expect(none.status == 25, "\(none.text) \(none.errors)")
        try program.sandbox.write("in the way", to: "File")
        let state = ["XDG_STATE_HOME": program.sandbox.path("File").string]
        #expect(try runElsewhere("backup", environment: state).status == 3)
        let own = try runElsewhere("status", "--max-age", "1h", environment: state)
        #expect(own.status == 0, "\(own.text) \(own.errors)")
        #expect(own.errors.contains("not signed by a known machine"), "\(own.errors)")
    }

    @Test("No policy removes from the trash what a machine deleted that is not known here")
    func trashOfOthers() throws {
        func trashed() throws -> Int? {
            (try run("list", "--trash", "--json").json as? [[String: Any]])?.count
        }
        for _ in 0..<2 { #expect(try run("backup").status == 0) }
        #expect(try run("prune", "--keep-last", "1").status == 0)
        #expect(try trashed() == 1)
        try makeOtherStores()
        let emptying = ["--set", "retention.keep_trash=0s"]
        let policy = ["--prune", "--keep-last", "2"]
        let pruned = try program.run(
            ["backup"] + policy + emptying + ["--stores", "Other", "--remote", "Remote"],
            environment: ["HOME": program.sandbox.directory("Other home").string]
        )
        #expect(pruned.status == 0, "\(pruned.errors)")
        #expect(try trashed() == 1)
        // Its own machine may.
        let own = try program.run(["backup"] + policy + emptying + places)
        #expect(own.status == 0, "\(own.errors)")
        #expect(try trashed() == 0)
    }

    @Test("No backup is pruned while the trusted keys cannot be read, and every command says so")
    func unreadableKeys() throws {
        for _ in 0..<2 { #expect(try run("backup").status == 0) }
        let key = program.sandbox.path(".local/state/grocerydude/signing_key")
        try #require(try FileInfo.ifPresent(key) != nil)
        let fileSystem = LocalFileSystem()
        try fileSystem.remove(key)
        try fileSystem.createDirectory(key)
        #expect(chmod(key.string, 0o700) == 0)
        let pruned = try run("prune", "--keep-last", "1")
        #expect(pruned.status == 1, "\(pruned.errors)")
        #expect(pruned.errors.contains("signing_key"), "\(pruned.errors)")
        for command in ["list", "status"] {
            let outcome = try run(command)
            #expect(outcome.errors.contains("the trusted keys cannot be read: "), "\(command)")
        }
        let unsigned = try run("backup")
        #expect(unsigned.status == 3, "\(unsigned.errors)")
        #expect(unsigned.errors.contains("the backup is not signed"), "\(unsigned.errors)")
        #expect(try rows().count == 3)
    }

    @Test(
        "A damaged signing key of this machine keeps no backup and no restore from being made",
        arguments: [0, 100]
    )
    func damagedKey(length: Int) throws {
        #expect(try run("backup").status == 0)
        let path = ".local/state/grocerydude/signing_key"
        let key = program.sandbox.path(path)
        let whole = try program.sandbox.read(path)
        try LocalFileSystem().write(Array(whole.prefix(length)), to: key, mode: 0o600)
        let listed = try run("list")
        #expect(listed.status == 0 && !listed.errors.contains("fell behind"), "\(listed.errors)")
        #expect(
            listed.errors.contains("the key that signed it is not known here"),
            "\(listed.errors)"
        )
        let refused = try run("restore", "latest", "--yes")
        #expect(refused.errors.contains("the trusted keys cannot be read"), "\(refused.errors)")
        #expect(refused.errors.contains("hint: "), "\(refused.errors)")
        let name = try #require(rows()[0]["name"] as? String)
        let restored = try run("restore", name, "--yes")
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(restored.errors.contains("signing_key.damaged"), "\(restored.errors)")
        let saved = try run("backup")
        #expect(saved.status == 0 && !saved.errors.contains("damaged"), "\(saved.errors)")
        #expect(try rows().contains { $0["signer"] as? String == "this machine" })
        #expect(try program.sandbox.read(path + ".damaged") == Array(whole.prefix(length)))
    }

    @Test("A signed backup needs a signing key that no other user can read")
    func exposedKey() throws {
        try program.configure("signing_key: \(program.sandbox.path("other"))\n")
        #expect(try run("backup").status == 0)
        let shown = try #require(try run("show", "latest", "--json").json as? [String: Any])
        let line = String(decoding: try program.sandbox.read("other.pub"), as: UTF8.self)
        let print = try Tool.run("ssh-keygen", ["-lf", program.sandbox.path("other.pub").string])
        #expect(print.text.contains(try #require(shown["signed_by"] as? String)), "\(line)")
        #expect(chmod(program.sandbox.path("other").string, 0o644) == 0)
        let refused = try run("backup")
        #expect(refused.status != 0 && refused.errors.contains("chmod 600"), "\(refused.errors)")
    }

    @Test("A restore in place sets set-user-id bits only if a trusted machine signed the backup")
    func setUserID() throws {
        try program.sandbox.write("x", to: "Stores/tool")
        #expect(chmod(program.sandbox.path("Stores/tool").string, 0o4755) == 0)
        #expect(try run("backup").status == 0)
        try write("changed")
        #expect(try run("restore", "latest", "--yes").status == 0)
        #expect(try FileInfo(of: program.sandbox.path("Stores/tool")).mode & 0o7777 == 0o4755)
        try forge("setuid")
        #expect(try run("restore", "2098", "--yes", "--allow-no-stores").status == 0)
        #expect(try FileInfo(of: program.sandbox.path("Stores/forged.txt")).mode & 0o7777 == 0o755)
    }

    @Test("A sync of a profile with recipients needs --plain")
    func sync() throws {
        try program.configure("recipients: password\npassword_command: echo secret\n")
        let plain = try program.run(
            "sync",
            "enable",
            "--container",
            "Container",
            "--stores",
            "Stores",
            "--yes"
        )
        #expect(plain.status == 64 && plain.errors.contains("--plain"), "\(plain.errors)")
    }

    @Test(
        "The next restore misses a removed backup, even if only 'backup' has seen it",
        arguments: ["removed", "replaced", "empty decoy", "other decoy"]
    )
    func fellBehind(how: String) throws {
        let first = try String(run("backup").text.dropLast())
        let newest = try String(run("backup").text.dropLast())
        let path = program.sandbox.path("Remote/\(newest)")
        try LocalFileSystem().remove(path)
        if how == "replaced" {
            let older = try program.sandbox.read("Remote/\(first)")
            try program.sandbox.write(older, to: "Remote/\(newest)")
        }
        if how.hasSuffix("decoy") {
            let decoy = how.hasPrefix("empty") ? "" : "no archive"
            let name = "20261126T090100.123Z \(newest)"
            try program.sandbox.write(decoy, to: "Remote/.grocerydude-trash/\(name)")
        }
        let restore = try run("restore", "latest", "--dry-run")
        #expect(restore.status == 0 && restore.errors.contains("fell behind"), "\(restore.errors)")
    }

    @Test(
        "A backup without an origin belongs to no machine, even if this machine signed it",
        arguments: ["", "origin="]
    )
    func withoutOrigin(change: String) throws {
        #expect(try run("backup").status == 0)
        try forge(change, key: ".local/state/grocerydude/signing_key")
        #expect(try run("backup").status == 0)
        let pruned = try run("prune", "--keep-last", "1")
        #expect(pruned.status == 0, "\(pruned.errors)")
        let names = try rows().compactMap { $0["name"] as? String }
        #expect(names.count == 2 && names.contains { $0.contains("2098") }, "\(names)")
        #expect(try run("prune", "--keep-last", "1", "--all-origins").status == 0)
        #expect(try rows().count == 2)
    }

    @Test("A dry run, and a restore of a part, require the named signer as a restore of all does")
    func drySigner() throws {
        #expect(try run("backup").status == 0)
        let other = "SHA256:" + String(repeating: "A", count: 43)
        let part = ["--yes", "--only", "Grocery-Dude.sqlite"]
        for more in [["--dry-run"], ["--yes"], part] {
            let refused = try program.run(["restore", "latest", "--signer", other] + more + places)
            #expect(refused.status == 21, "\(refused.errors)")
        }
        let wrong = try run("restore", "latest", "--dry-run", "--signer", "foo")
        #expect(wrong.status == 64 && wrong.errors.contains("takes a fingerprint"))
    }

    @Test("A key that is listed for another purpose counts once it is trusted for backups")
    func otherNamespace() throws {
        let key = String(decoding: try program.sandbox.read("other.pub"), as: UTF8.self)
            .split(separator: " ").prefix(2).joined(separator: " ")
        try program.sandbox.write(
            "somebody namespaces=\"git\" \(key)\r\n",
            to: ".config/grocerydude/allowed_signers"
        )
        try forge()
        let added = try run("trust", "add", "\(key) a machine", "--yes")
        #expect(added.status == 0 && added.text.contains("is trusted"), "\(added.text)")
        #expect(try rows().contains { $0["signer"] as? String == "a_machine" })
        let removed = try run("trust", "remove", "a machine")
        #expect(removed.status == 0, "\(removed.errors)")
        try program.sandbox.write(
            "somebody namespaces=\"grocery*\" \(key)\r\n",
            to: ".config/grocerydude/allowed_signers"
        )
        #expect(try rows().contains { $0["signer"] as? String == "somebody" })
    }
}

private let hasTools =
    Tool.isInstalled("python3") && Tool.isInstalled("ssh-keygen") && Tool.isInstalled("unzip")
