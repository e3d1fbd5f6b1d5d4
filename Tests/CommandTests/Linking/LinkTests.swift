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

    @Test("A link creates the folder and the configuration, and backups go there")
    func fresh() throws {
        #expect(try program.run("init", "--quiet").status == 0)
        let outcome = try program.run("link", "Cloud/Backups")
        let place = sandbox.path("Cloud/Backups").string
        #expect(outcome.status == 0 && outcome.text.hasPrefix("linked to \(place) ("))
        #expect(try configuration == "remote: \(place)\n")
        #expect(try program.run("backup", "--quiet").status == 0)
        #expect(
            try sandbox.contents(of: "Cloud/Backups").paths.contains { $0.hasSuffix(" Stores.zip") }
        )
        let status = try program.run("status").text
        #expect(status.contains("linked to \(place)") && status.contains(" free"))
        // Once more, from elsewhere.
        try sandbox.directory("Elsewhere")
        let again = try program.run("link", "Elsewhere/../Cloud/Backups/")
        #expect(again.status == 0 && again.text.hasPrefix("already linked to \(place)"))
        #expect(try configuration == "remote: \(place)\n")
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
        #expect(try configuration == "remote: \(sandbox.path("Two").string)\n")
    }

    @Test(
        "A link of a profile changes only its lines, keeps comments, and may add a profile"
    )
    func profiles() throws {
        let text =
            "# all\nprofiles:\n  a:   # first\n    stores: ~/A\n    tags: [x]   # why\n# end\n"
        try sandbox.write(text, to: "dotfiles/config.yaml")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o640],
            ofItemAtPath: sandbox.path("dotfiles/config.yaml").string
        )
        try sandbox.directory(".config/grocerydude")
        try sandbox.link(Program.configuration, to: "../../dotfiles/config.yaml")
        #expect(try program.run("link", "A2").status == 0)
        let path = sandbox.path("A2").string
        let changed = text.replacing("~/A\n", with: "~/A\n    remote: \(path)\n")
        #expect(try configuration == changed)
        let added = try program.run("link", "B2", "--profile", "b", "--stores", "B")
        #expect(added.status == 0 && added.text.hasPrefix("linked 'b' to "))
        let own =
            "  b:\n    stores: \(sandbox.path("B").string)\n    remote: \(sandbox.path("B2").string)\n"
        #expect(try configuration == changed.replacing("# end\n", with: own + "# end\n"))
        let attributes = try FileManager.default.attributesOfItem(
            atPath: sandbox.path("dotfiles/config.yaml").string
        )
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(
            try FileManager.default.destinationOfSymbolicLink(
                atPath: sandbox.path(Program.configuration).string
            ) == "../../dotfiles/config.yaml"
        )
    }

    @Test("A link shows the lines to write if the configuration cannot be changed safely")
    func refused() throws {
        try program.configure("profiles: {a: {stores: ~/A}}\n")
        let outcome = try program.run("link", "A2")
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("in profile 'a': remote: \(sandbox.path("A2").string)"))
        #expect(try configuration == "profiles: {a: {stores: ~/A}}\n")
        #expect(!sandbox.exists("A2"))
    }

    @Test("A link accepts one folder for two profiles with different stores, each named")
    func shared() throws {
        let text =
            "profiles:\n  a:\n    stores: ~/A\n    remote: ~/R\n  b:\n    stores: ~/B\n    remote: ~/S\n"
        try program.configure(text)
        try program.expect("link", "R", "--profile", "b", "--replace")
        #expect(try configuration != text)
        let none = try program.run("link", "T")
        #expect(none.status == 64 && none.errors.contains("--profile 'a'"))
    }

    @Test("A link to a place that cannot contain a folder writes nothing")
    func cannot() throws {
        try sandbox.write("a file", to: "file")
        let outcome = try program.run("link", "file/below")
        #expect(outcome.status == 1 && outcome.errors.contains("cannot make '"))
        #expect(!sandbox.exists(Program.configuration))
        #expect(try program.run("link").status == 64)
        let meant = try program.run("link", "nas:backups")
        #expect(meant.status == 64 && meant.errors.contains("'rclone:nas:backups'"))
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
    func meanwhile() throws {
        try program.configure("prune: false\n")
        let path = sandbox.path(Program.configuration).string
        let place = try LinkedPlace(named: path, profile: nil, mayBeMissing: true)
        let text = try place.text(with: [("remote", "/new")], in: nil)
        try program.configure("prune: true\n")
        #expect(throws: ConfigurationError.self) { try place.write(text) }
        #expect(try configuration == "prune: true\n")
        try program.configure("prune: false\n")
        try place.write(text)
        #expect(try configuration == "remote: /new\nprune: false\n")
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
            "# mine\nremote: ~/R # the cloud\ncompression: best\nschedule: daily 03:30\n"
        )
        try sandbox.directory("R")
        #expect(try program.run("backup", "--quiet").status == 0)
        let installed = try program.run(
            "schedule",
            "install",
            "--kind",
            "systemd-user",
            "--no-enable"
        )
        #expect(installed.status == 0)
        let unit = ".config/systemd/user/grocerydude-backup.timer"
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
            try program.run("unlink", "--dry-run").text.hasPrefix("would unlink from '\(place)'")
        )
        #expect(sandbox.exists(unit))
        let outcome = try program.run("unlink", "--yes", "--no-enable")
        #expect(outcome.status == 0 && outcome.text == "unlinked from '\(place)'\n")
        #expect(outcome.errors.contains("1 backup stays in '\(place)'"))
        #expect(outcome.errors.contains("the data stays in '"))
        #expect(
            try configuration == "# mine\n# the cloud\ncompression: best\nschedule: daily 03:30\n"
        )
        #expect(!sandbox.exists(unit))
        #expect(try !catalog().contains(place))
        #expect(try (sandbox.contents(of: "R"), sandbox.contents(of: ".local/share")) == before)
        #expect(try program.run("unlink", "--yes").text == "not linked\n")
        #expect(try program.run("status").text.contains("not linked"))
        // Linked again, it has all its backups.
        #expect(try program.run("link", "R").status == 0)
        #expect(try (program.run("list", "--json").json as? [Any])?.count == 1)
    }

    @Test("An unlink of one profile is refused if one line gives several profiles the folder")
    func unlinkShared() throws {
        let common = "remote: ~/R\nprofiles:\n  a:\n    prune: false\n  b:\n    prune: false\n"
        try program.configure(common)
        #expect(try program.run("unlink", "--profile", "a", "--yes").status == 64)
        #expect(try configuration == common)
        let own = "profiles:\n  a:\n    stores: ~/A\n  b:\n    stores: ~/B\n    remote: ~/R\n"
        try program.configure(own)
        try program.expect("unlink", "--profile", "b", "--yes")
        #expect(try configuration != own)
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
        #expect(linked.text.hasPrefix("linked to nas:Apps/Grocery Dude as anna ("))
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
        #expect(!sandbox.exists(Program.configuration))
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
        #expect(outcome.text.contains("linked to alias:Backups"))
        #expect(sandbox.exists("Cloud/Backups"))
        // It has a remote of that name now, and needs no terminal.
        let again = try run("link", "alias", "--path", "More", "--replace")
        #expect(again.status == 0 && sandbox.exists("Cloud/More"))
    }
}
