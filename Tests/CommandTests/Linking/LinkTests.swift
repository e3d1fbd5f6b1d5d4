import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import grocerydude

@Suite("Linking")
struct LinkTests {
    let program: Program

    init() throws {
        program = try Program()
    }

    private var sandbox: Sandbox { program.sandbox }
    private var configuration: String {
        get throws { String(decoding: try sandbox.read(Program.configuration), as: UTF8.self) }
    }

    private static let pieces = ".config/grocerydude/config.d"

    /// The settings in a generated piece, behind its remark.
    private func piece(_ name: String = "default") throws -> String {
        let text = String(decoding: try sandbox.read("\(Self.pieces)/\(name).yaml"), as: UTF8.self)
        #expect(text.hasPrefix("# grocerydude wrote this and may write it again"))
        return text.split(separator: "\n").dropFirst().map { $0 + "\n" }.joined()
    }

    private func mode(_ relative: String) throws -> Int? {
        let path = sandbox.path(relative).string
        return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func setMode(_ mode: Int, _ relative: String) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: mode],
            ofItemAtPath: sandbox.path(relative).string
        )
    }

    @Test("A link creates the folder and the configuration, and backups go there")
    func fresh() throws {
        #expect(try program.run("init", "--quiet").status == 0)
        let outcome = try program.run("link", "Cloud/Backups")
        let place = sandbox.path("Cloud/Backups").string
        #expect(outcome.status == 0 && outcome.text.hasPrefix("linked 'default' to \(place) ("))
        #expect(try piece() == "profiles:\n  default:\n    remote: \"\(place)\"\n")
        #expect(!sandbox.exists(Program.configuration))
        #expect(try mode("\(Self.pieces)/default.yaml") == 0o600)
        #expect(try mode(Self.pieces) == 0o700)
        #expect(try program.run("backup", "--quiet").status == 0)
        #expect(
            try sandbox.contents(of: "Cloud/Backups").paths.contains { $0.hasSuffix(" Stores.zip") }
        )
        let status = try program.run("status").text
        #expect(status.contains("linked to \(place)") && status.contains(" free"))
        // Once more, from elsewhere.
        try sandbox.directory("Elsewhere")
        let again = try program.run("link", "Elsewhere/../Cloud/Backups/")
        #expect(
            again.status == 0 && again.text.hasPrefix("'default' is already linked to \(place)")
        )
        #expect(try piece() == "profiles:\n  default:\n    remote: \"\(place)\"\n")
    }

    @Test("A link to another folder needs --replace and leaves the backups in the first")
    func replace() throws {
        #expect(try program.run("link", "One").status == 0)
        try sandbox.write("PK", to: "One/My Stores.zip")
        let refused = try program.run("link", "Two")
        #expect(refused.status == 1 && refused.errors.contains("'--replace'"))
        #expect(!sandbox.exists("Two"))
        let replaced = try program.run("link", "Two", "--replace", "--json")
        let answer = try #require(replaced.json as? [String: Any])
        #expect(answer["replaced"] as? String == sandbox.path("One").string)
        #expect(sandbox.exists("One/My Stores.zip"))
        #expect(
            try piece() == "profiles:\n  default:\n    remote: \"\(sandbox.path("Two").string)\"\n"
        )
        #expect(
            answer["configuration"] as? String
                == sandbox.path("\(Self.pieces)/default.yaml").string
        )
    }

    @Test(
        "A link of a profile writes its piece, may add a profile, and changes no file of a person"
    )
    func profiles() throws {
        let text =
            "# all\nprofiles:\n  a:   # first\n    stores: ~/A\n    tags: [x]   # why\n# end\n"
        try sandbox.write(text, to: "dotfiles/config.yaml")
        try setMode(0o640, "dotfiles/config.yaml")
        try sandbox.directory(".config/grocerydude")
        try sandbox.link(Program.configuration, to: "../../dotfiles/config.yaml")
        #expect(try program.run("link", "A2").status == 0)
        let path = sandbox.path("A2").string
        #expect(try piece("a") == "profiles:\n  a:\n    remote: \"\(path)\"\n")
        let added = try program.run("link", "B2", "--profile", "b", "--stores", "B")
        #expect(added.status == 0 && added.text.hasPrefix("linked 'b' to "))
        let (remote, stores) = (sandbox.path("B2").string, sandbox.path("B").string)
        #expect(
            try piece("b")
                == "profiles:\n  b:\n    remote: \"\(remote)\"\n    stores: \"\(stores)\"\n"
        )
        #expect(try configuration == text)
        // Those who may read the person's file may read the pieces.
        #expect(try mode("\(Self.pieces)/a.yaml") == 0o640)
        #expect(try mode(Self.pieces) == 0o750)
        #expect(
            try FileManager.default.destinationOfSymbolicLink(
                atPath: sandbox.path(Program.configuration).string
            ) == "../../dotfiles/config.yaml"
        )
    }

    @Test("A link keeps a piece's mode, and its place behind a link")
    func placeOfPiece() throws {
        try program.expect("link", "One")
        try setMode(0o604, "\(Self.pieces)/default.yaml")
        let path = sandbox.path("\(Self.pieces)/default.yaml").string
        try FileManager.default.moveItem(atPath: path, toPath: sandbox.path("moved").string)
        try sandbox.link("\(Self.pieces)/default.yaml", to: "../../../moved")
        try program.expect("link", "Two", "--replace")
        #expect(try mode("moved") == 0o604)
        #expect(
            try piece() == "profiles:\n  default:\n    remote: \"\(sandbox.path("Two").string)\"\n"
        )
    }

    @Test("A link and an unlink refuse to override a person's file, and name its line")
    func refused() throws {
        let text = "profiles: {a: {stores: ~/A,\nremote: ~/R}}\n"
        try program.configure(text)
        let file = sandbox.path(Program.configuration).string
        for arguments in [["link", "A2"], ["link", "A2", "--replace"]] {
            let outcome = try program.expect(arguments, status: 64)
            let line = "write 'remote: \"\(sandbox.path("A2").string)\"'"
            #expect(outcome.errors.contains("'\(file):2' was written by hand"), "\(outcome.errors)")
            #expect(outcome.errors.contains("hint: there, in profile 'a', \(line)"))
        }
        #expect(!sandbox.exists("A2"))
        // The folder is the same, but the stores directory is not.
        let stores = try program.expect("link", "R", "--stores", "B", status: 64)
        #expect(stores.errors.contains("'\(file):1' was written by hand"), "\(stores.errors)")
        let unlink = try program.expect("unlink", "--yes", status: 64)
        #expect(unlink.errors.contains("'\(file):2' was written by hand"), "\(unlink.errors)")
        #expect(unlink.errors.contains("'grocerydude schedule remove', then remove 'remote'"))
        #expect(try configuration == text)
        #expect(!sandbox.exists(Self.pieces))
    }

    @Test("A link and an unlink refuse a piece that a person has written or changed")
    func changedPiece() throws {
        try program.expect("link", "One")
        let path = "\(Self.pieces)/default.yaml"
        let text = String(decoding: try sandbox.read(path), as: UTF8.self)
        for changed in [
            text + "prune: true\n", text + "# mine\n",
            "profiles: {default: {remote: \(sandbox.path)/One}}\n",
        ] {
            try sandbox.write(changed, to: path)
            for arguments in [["link", "Two", "--replace"], ["unlink", "--yes"]] {
                let outcome = try program.expect(arguments, status: 64)
                let place = "\(sandbox.path(path)):\(changed.hasPrefix("#") ? 4 : 1)"
                #expect(outcome.errors.contains("'\(place)' was written by hand"))
            }
            #expect(String(decoding: try sandbox.read(path), as: UTF8.self) == changed)
        }
        // A later piece overrides the generated one.
        try sandbox.write(text, to: path)
        try sandbox.write("profiles: {default: {remote: ~/Three}}\n", to: "\(Self.pieces)/z.yaml")
        let outcome = try program.expect("link", "Two", "--replace", status: 64)
        #expect(outcome.errors.contains("'\(sandbox.path("\(Self.pieces)/z.yaml")):1'"))
    }

    @Test("A link accepts one folder for two profiles with different stores, each named")
    func shared() throws {
        try program.configure(
            "profiles:\n  a:\n    stores: ~/A\n    remote: ~/R\n  b:\n    stores: ~/B\n"
        )
        try program.expect("link", "R", "--profile", "b")
        #expect(
            try piece("b") == "profiles:\n  b:\n    remote: \"\(sandbox.path("R").string)\"\n"
        )
        let none = try program.run("link", "T")
        #expect(none.status == 64 && none.errors.contains("--profile a'"))
    }

    @Test("A link to a place that cannot contain a folder writes nothing")
    func cannot() throws {
        try sandbox.write("a file", to: "file")
        let outcome = try program.run("link", "file/below")
        #expect(outcome.status == 1 && outcome.errors.contains("cannot make '"))
        #expect(!sandbox.exists(Self.pieces))
        #expect(try program.run("link").status == 64)
        let meant = try program.run("link", "nas:backups")
        #expect(meant.status == 64 && meant.errors.contains("'rclone:nas:backups'"))
    }

    @Test("No command takes a remote of rclone without its colon or its scheme for a directory")
    func meantRemotes() throws {
        try program.make(stores: "Stores", remote: "Remote")
        let stores = ["--stores", "Stores"]
        for (address, right) in [("rclone:nas", "'rclone:nas:'"), ("nas:bk", "'rclone:nas:bk'")] {
            for command in [
                ["link", address], ["link", "--check", address],
                ["backup", "--remote", address] + stores, ["backup"] + stores,
                ["copy", "--all", "--to", address, "--remote", "Remote"] + stores,
                ["sync", "enable", "--container", address] + stores,
                ["schedule", "install", "--kind", "cron", "--dry-run", "--remote", address],
                ["config", "validate"],
            ] {
                let isGiven = command.contains(address)
                try program.configure(isGiven ? "lock_wait: 0s\n" : "remote: \(address)\n")
                let outcome = try program.expect(command, status: 64)
                #expect(outcome.errors.contains(right), "\(command): \(outcome.errors)")
                #expect(!outcome.errors.contains("mkdir"), "\(command): \(outcome.errors)")
            }
            let variable = ["GROCERYDUDE_REMOTE": address]
            #expect(try program.run(["list"], environment: variable).status == 64)
        }
        #expect(!sandbox.exists("nas") && !sandbox.exists("nas:bk"))
        // It is taken for one where it is one.
        try sandbox.directory("nas:bk")
        try program.configure("lock_wait: 0s\n")
        try program.expect(["backup", "--quiet", "--remote", "nas:bk"] + stores)
    }

    @Test("A link warns if the environment sets another folder")
    func environment() throws {
        let outcome = try program.run(
            ["link", "R"],
            environment: ["GROCERYDUDE_REMOTE": sandbox.path("Other").string]
        )
        #expect(outcome.status == 0 && outcome.errors.contains("GROCERYDUDE_REMOTE is set"))
        #expect(try program.run("status").text.contains("linked to \(sandbox.path("R").string)"))
        let other = try program.run("status", "--remote", "R", "--json")
        let answer = try #require(other.json as? [String: Any])
        #expect((answer["link"] as? [String: Any])?["linked"] as? Bool == false)
    }

    @Test("A link does not overwrite what another writer changed meanwhile")
    func meanwhile() async throws {
        let path = sandbox.path(Program.configuration).string
        func place() throws -> LinkedPlace {
            let files = try ConfigurationFiles(named: path, mayBeMissing: true)
            return try LinkedPlace(in: files, profile: nil, mayBeMissing: true)
        }
        let (first, second) = (try place(), try place())
        try await first.write([("remote", "/first")], in: nil)
        await #expect(throws: ConfigurationError.self) {
            try await second.write([("remote", "/second")], in: nil)
        }
        #expect(try piece("_common") == "remote: \"/first\"\n")
        // A person's file that decides the setting by now is respected too.
        let third = try place()
        try program.configure("remote: /own\n")
        await #expect(throws: ConfigurationError.self) {
            try await third.write([("remote", "/third")], in: nil)
        }
        #expect(try piece("_common") == "remote: \"/first\"\n")
        try program.configure("prune: false\n")
        try await place().write([("remote", "/fourth")], in: nil)
        #expect(try piece("_common") == "remote: \"/fourth\"\n")
        #expect(try configuration == "prune: false\n")
    }

    @Test("Links of several profiles at the same time are all written")
    func together() async throws {
        let files = try ConfigurationFiles(
            named: sandbox.path(Program.configuration).string,
            mayBeMissing: true
        )
        let names = (0..<8).map { "p\($0)" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names {
                let place = try LinkedPlace(in: files, profile: name, mayBeMissing: true)
                group.addTask { try await place.write([("remote", "/\(name)")], in: name) }
            }
            try await group.waitForAll()
        }
        for name in names {
            let text = "profiles:\n  \(name):\n    remote: \"/\(name)\"\n"
            #expect(try piece(name) == text)
        }
    }

    @Test("A piece has every text so that it is read as the same text")
    func values() async throws {
        let path = sandbox.path(Program.configuration).string
        for value in [
            "/a b/c", "rclone:dropbox:Apps/Grocery Dude", "true", "12", "1e3", "~", "~/x", "a: b",
            "a:", "a #b", "- a", "\"quoted\"", "back\\slash", "line\nend", "tab\tbell\u{7}",
            "ümläut 🥬", "null", " a ", "'x'", "{a}", "[a]", "&a", "*a", "!a", "%a", "@a", "`a`",
            "2026-11-21", "0x10", "y", "no", "a\u{85}b", "a\u{2028}b", "a\u{FEFF}b", "a\u{7F}b",
            String(repeating: "long ", count: 100),
        ] {
            for profile in ["1", "true", nil] {
                let before = try ConfigurationFiles(named: path, mayBeMissing: true)
                let place = try LinkedPlace(in: before, profile: profile, mayBeMissing: true)
                try await place.write([("origin", value)], in: profile)
                let file = try ConfigurationFiles(named: path).merged()
                guard case .text(let text)? = file?.values(of: profile)?["origin"]?.form else {
                    Issue.record("\(value) is no text")
                    continue
                }
                #expect(text.exact == value.exact)
                try await LinkedPlace(
                    in: ConfigurationFiles(named: path),
                    profile: profile,
                    mayBeMissing: true
                ).write([("origin", nil)], in: profile)
            }
        }
        #expect(try sandbox.contents(of: Self.pieces).paths.isEmpty)
    }

    /// Runs a link while a call that names the draft of its piece fails, or ends the run.
    private func link(_ folder: String, injecting fault: String) throws -> Tool.Outcome {
        let draft = sandbox.path("\(Self.pieces)/.default.yaml.draft").string
        return try Tool.run(
            "strace",
            ["-f", "-o", "/dev/null", "-P", draft, "-e", "inject=\(fault)"]
                + [Program.path, "link", sandbox.path(folder).string, "--replace"],
            environment: program.environment
        )
    }

    @Test(
        "A link that cannot write its piece, or is killed, leaves the piece as it was",
        .enabled(if: Tool.isInstalled("strace"), "strace is not installed")
    )
    func faults() throws {
        try program.expect("link", "One")
        let before = try piece()
        for (fault, status, words) in [
            ("openat:error=EROFS", 1, "the file system is read-only"),
            ("openat:error=EACCES", 1, "permission denied"),
            ("pwrite64:error=ENOSPC", 23, "no space left on the device"),
            ("fsync:error=ENOSPC", 23, "no space left on the device"),
            ("?rename,?renameat,?renameat2:error=EIO", 1, "the disk may be failing"),
        ] {
            let outcome = try link("Two", injecting: fault)
            #expect(outcome.status == status, "\(fault): \(outcome.errors)")
            #expect(outcome.errors.contains(words), "\(fault): \(outcome.errors)")
            #expect(try piece() == before)
            #expect(try sandbox.contents(of: Self.pieces).paths == ["default.yaml"])
        }
        for call in ["pwrite64", "fsync", "?rename,?renameat,?renameat2"] {
            #expect(try link("Two", injecting: "\(call):signal=KILL").status != 0)
            #expect(try piece() == before)
        }
        try program.expect("link", "Two", "--replace")
        #expect(try sandbox.contents(of: Self.pieces).paths == ["default.yaml"])
        #expect(
            try piece() == "profiles:\n  default:\n    remote: \"\(sandbox.path("Two").string)\"\n"
        )
    }

    @Test("'link --check' checks a link step by step without a change")
    func check() throws {
        try program.configure("remote: ~/R\n")
        let missing = try program.run("link", "--check", "--json")
        #expect(missing.status == 10)
        let answer = try #require(missing.json as? [String: Any])
        let steps = try #require(answer["steps"] as? [[String: Any]])
        #expect(steps.map { $0["step"] as? String } == ["folder"])
        #expect(steps.map { $0["state"] as? String } == ["failed"])
        #expect(!sandbox.exists("R"))
        try sandbox.directory("R")
        let good = try program.run("link", "--check")
        #expect(good.status == 0)
        #expect(
            good.text.split(separator: "\n").map { $0.prefix { $0 != " " } } == [
                "folder", "writable", "clock", "space",
            ]
        )
        // Another one than the linked.
        #expect(try program.run("link", "S", "--check").status == 10)
        #expect(try configuration == "remote: ~/R\n")
    }

    @Test("An unlink keeps backups, data, comments and all other settings")
    func unlink() throws {
        #expect(try program.run("init", "--quiet").status == 0)
        try program.configure(
            "# mine\ncompression: best # small\nschedule: daily 03:30\n"
        )
        try program.expect("link", "R")
        #expect(try program.run("backup", "--quiet").status == 0)
        let installed = try program.run(
            "schedule",
            "install",
            "--kind",
            "systemd-user",
            "--no-enable"
        )
        #expect(installed.status == 0)
        let unit = ".config/systemd/user/grocerydude-backup-default.timer"
        func catalog() throws -> String {
            String(decoding: try sandbox.read(".cache/grocerydude/catalog.json"), as: UTF8.self)
                .replacing("\\/", with: "/")
        }
        #expect(sandbox.exists(unit))
        let place = sandbox.path("R").string
        #expect(try catalog().contains(place))
        let before = try (sandbox.contents(of: "R"), sandbox.contents(of: ".local/share"))
        #expect(try program.run("unlink").status == 64)
        #expect(
            try program.run("unlink", "--dry-run").text.hasPrefix(
                "would unlink 'default' from '\(place)'"
            )
        )
        #expect(sandbox.exists(unit))
        let outcome = try program.run("unlink", "--yes", "--no-enable")
        #expect(outcome.status == 0 && outcome.text == "unlinked 'default' from '\(place)'\n")
        #expect(outcome.errors.contains("1 backup stays in '\(place)'"))
        #expect(outcome.errors.contains("the data stays in '"))
        #expect(
            try configuration == "# mine\ncompression: best # small\nschedule: daily 03:30\n"
        )
        #expect(try sandbox.contents(of: Self.pieces).paths.isEmpty)
        #expect(!sandbox.exists(unit))
        #expect(try !catalog().contains(place))
        #expect(try (sandbox.contents(of: "R"), sandbox.contents(of: ".local/share")) == before)
        #expect(try program.run("unlink", "--yes").text == "not linked\n")
        #expect(try program.run("status").text.contains("not linked"))
        // Linked again, it has all its backups.
        #expect(try program.run("link", "R").status == 0)
        #expect(try (program.run("list", "--json").json as? [Any])?.count == 1)
    }

    @Test("An unlink of one profile is refused if one line is for several, and keeps its stores")
    func unlinkShared() throws {
        let common = "remote: ~/R\nprofiles:\n  a:\n    prune: false\n  b:\n    prune: false\n"
        try program.configure(common)
        let refused = try program.run("unlink", "--profile", "a", "--yes")
        #expect(refused.status == 64)
        #expect(refused.errors.contains("in '\(sandbox.path(Program.configuration)):1'"))
        #expect(try configuration == common)
        try program.configure("profiles:\n  a:\n    stores: ~/A\n")
        try program.expect("link", "R", "--profile", "b", "--stores", "B")
        try program.expect("unlink", "--profile", "b", "--yes")
        #expect(
            try piece("b") == "profiles:\n  b:\n    stores: \"\(sandbox.path("B").string)\"\n"
        )
    }
}

/// Remotes of rclone, of a configuration that a test makes.
@Suite(
    "Linking through rclone",
    .enabled(if: Tool.isInstalled("rclone"), "rclone is not installed")
)
struct LinkRcloneTests {
    let program: Program

    init() throws {
        program = try Program()
    }

    private var sandbox: Sandbox { program.sandbox }
    private var environment: [String: String] {
        ["RCLONE_CONFIG": sandbox.path("rclone.conf").string]
    }

    private func run(_ arguments: String...) throws -> Tool.Outcome {
        try program.run(arguments, environment: environment)
    }

    @Test(
        "A link through rclone creates the folder, and an unlink leaves nothing of it here"
    )
    func rclone() throws {
        try sandbox.directory("Cloud")
        try sandbox.write(
            "[nas]\ntype = alias\nremote = \(sandbox.path("Cloud").string)\nuser = anna\n",
            to: "rclone.conf"
        )
        #expect(try run("init", "--quiet").status == 0)
        let linked = try run("link", "rclone:nas:Apps/Grocery Dude")
        #expect(linked.status == 0, "\(linked.errors)")
        #expect(linked.text.hasPrefix("linked 'default' to nas:Apps/Grocery Dude as anna ("))
        #expect(linked.text.hasSuffix(" used)\n"))
        #expect(try sandbox.contents(of: "Cloud").paths == ["Apps", "Apps/Grocery Dude"])
        #expect(try run("backup", "--quiet").status == 0)
        let status = try #require(try run("status", "--json").json as? [String: Any])
        let link = try #require(status["link"] as? [String: Any])
        #expect(link["linked"] as? Bool == true && link["account"] as? String == "anna")
        #expect((link["space"] as? [String: Any])?["total"] != nil)
        let staging = {
            try sandbox.contents(of: ".cache/grocerydude").paths.filter { $0.hasPrefix("rclone-") }
        }
        #expect(try !staging().isEmpty)
        #expect(try run("unlink", "--yes").status == 0)
        #expect(try staging().isEmpty)
        #expect(
            try run("list", "--remote", "rclone:nas:Apps/Grocery Dude", "--json").text.contains(
                "Stores.zip"
            )
        )
    }

    @Test("An unlink leaves files in the cache that no run left there")
    func foreignStaging() throws {
        let place = "rclone::local:\(sandbox.path("Cloud").string)"
        #expect(try run("link", place).status == 0)
        let cache = sandbox.path(".cache/grocerydude").string
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: cache).first {
                $0.hasPrefix("rclone-")
            }
        )
        try sandbox.write("mine", to: ".cache/grocerydude/\(name)/waits.zip")
        let outcome = try run("unlink", "--yes")
        #expect(outcome.status == 0 && outcome.errors.contains("\(name)' was left"))
        #expect(sandbox.exists(".cache/grocerydude/\(name)/waits.zip"))
    }

    @Test("A link to a remote that is not configured reports it, and changes nothing")
    func unknown() throws {
        try sandbox.write("", to: "rclone.conf")
        let outcome = try run("link", "rclone:nope:x")
        #expect(outcome.status == 10 && outcome.errors.contains("rclone has no remote 'nope'"))
        #expect(!sandbox.exists(".config/grocerydude"))
        // A folder that does not exist has no empty trash.
        let place = "rclone::local:\(sandbox.path("gone"))"
        for command in [["list"], ["list", "--trash"], ["undelete", "a"]] {
            let gone = try program.run(command + ["--remote", place], environment: environment)
            #expect(gone.status == 10 && gone.errors.contains("there is no remote folder"))
        }
        try sandbox.directory("gone")
        #expect(try run("list", "--trash", "--remote", place).status == 0)
        let provider = try run("link", "dropbox")
        #expect(provider.status == 64 && provider.errors.contains("there is no terminal"))
        #expect(!sandbox.exists("dropbox"))
        // No provider, so a directory.
        #expect(try run("link", "Backups").status == 0)
        #expect(sandbox.exists("Backups"))
    }

    @Test("A link to a well-known provider without rclone creates no directory of that name")
    func noRclone() throws {
        let outcome = try program.run(["link", "dropbox"], environment: ["PATH": "/nowhere"])
        #expect(outcome.status == 1 && outcome.errors.contains("rclone is not installed"))
        #expect(!sandbox.exists("dropbox"))
    }

    @Test(
        "A link to a provider lets rclone ask once for what it needs",
        .enabled(if: Terminal.isThere, "Python 3 is not installed")
    )
    func provider() throws {
        try sandbox.directory("Cloud")
        try sandbox.write("", to: "rclone.conf")
        let cloud = sandbox.path("Cloud").string
        let outcome = try Terminal.run(
            [Program.path, "link", "alias", "--path", "Backups"],
            answering: [cloud, "n", "n"],
            program,
            environment: environment
        )
        #expect(outcome.status == 0, "\(outcome.text)")
        #expect(outcome.text.contains("linked 'default' to alias:Backups"))
        #expect(sandbox.exists("Cloud/Backups"))
        // It has a remote of that name now, and needs no terminal.
        let again = try run("link", "alias", "--path", "More", "--replace")
        #expect(again.status == 0 && sandbox.exists("Cloud/More"))
    }
}
