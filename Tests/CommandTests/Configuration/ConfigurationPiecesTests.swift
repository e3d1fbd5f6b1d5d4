import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("The pieces of a configuration")
struct ConfigurationPiecesTests {
    private let program: Program
    private var sandbox: Sandbox { program.sandbox }

    private static let directory = ".config/grocerydude/config.d"

    init() throws {
        program = try Program()
    }

    private func write(_ text: String, to name: String) throws {
        try sandbox.write(text, to: "\(Self.directory)/\(name)")
    }

    private func path(_ name: String = "") -> String {
        sandbox.path(name.isEmpty ? Self.directory : "\(Self.directory)/\(name)").string
    }

    /// The values in force and their origins, by key.
    private func settings(_ arguments: String...) throws -> [String: (value: String, at: String)] {
        try program.settings(arguments)
    }

    @Test("Pieces are read in the order of their names' bytes, and the own file overrides them")
    func order() throws {
        try program.configure("compression: none\nprofiles:\n  own:\n    tags: own\n")
        try write("compression: best\nlock_wait: 1m\nmax_age: 1d\n", to: "10.yaml")
        try write("\nlock_wait: 2m\nmax_age: 2d\n", to: "9.yaml")
        try write("max_age: 3d\nprofiles: {B: {}, own: {tags: piece}}\n", to: "a.yaml")
        try write("max_age: 4d\nprofiles: {a: {}}\n", to: "Z.yaml")
        try write("max_age: 5d\n", to: "z.yml")
        try write("max_age: 6d\n", to: ".z.yaml")
        try write("max_age: 7d\n", to: "z.yaml~")
        let settings = try settings("--profile", "own")
        let own = sandbox.path(Program.configuration).string
        #expect(try #require(settings["compression"]) == ("none", "\(own):1"))
        #expect(try #require(settings["tags"]).at == "\(own):4")
        #expect(try #require(settings["lock_wait"]) == ("2m", path("9.yaml") + ":2"))
        #expect(try #require(settings["max_age"]) == ("3d", path("a.yaml") + ":1"))
        let valid = try program.expect("config", "validate", "--json").json as? [String: Any]
        #expect(valid?["profiles"] as? [String] == ["own", "a", "B"])
        #expect(
            valid?["files"] as? [String]
                == [own] + ["a.yaml", "Z.yaml", "9.yaml", "10.yaml"].map(path)
        )
    }

    @Test("A profile's settings override those of all profiles, whichever file has them")
    func scopes() throws {
        try program.configure("max_age: 1d\n")
        try write("profiles: {a: {max_age: 2d, stores: data}}\n", to: "a.yaml")
        let settings = try settings()
        #expect(try #require(settings["max_age"]) == ("2d", path("a.yaml") + ":1"))
        // Relative paths begin at the same directory in all files.
        #expect(settings["stores"]?.value == sandbox.path(".config/grocerydude/data").string)
    }

    @Test("Faults in pieces have their file and line, and all are reported")
    func faults() throws {
        try program.configure("stores: 1\n")
        try write("prune: true\nretantion: 1\n", to: "a.yaml")
        try write("profiles: {b: {tags: {}}}\n", to: "b.yaml")
        try write("[\n", to: "c.yaml")
        let outcome = try program.expect("config", "validate", status: 64)
        for fault in [
            "\(path("a.yaml")):2: unknown key 'retantion'; did you mean 'retention'?",
            "\(path("b.yaml")):1: 'tags' in profile 'b' must be",
            "\(path("c.yaml")):2: this is not YAML",
            "\(sandbox.path(Program.configuration)):1: 'stores' must be",
        ] {
            #expect(outcome.errors.contains(fault), "\(outcome.errors)")
        }
        #expect(try program.expect("list", status: 64).errors.contains("(and 3 more)"))
    }

    @Test("Pieces need no file of a person beside them, but are no substitute for a broken one")
    func alone() throws {
        try write("profiles: {a: {max_age: 2d}}\n", to: "a.yaml")
        #expect(try settings()["max_age"]?.value == "2d")
        let usual = sandbox.path(Program.configuration).string
        #expect(try settings("--config", usual)["max_age"]?.value == "2d")
        let valid = try program.expect("config", "validate").text
        #expect(valid == "'\(path("a.yaml"))' is valid; profiles: a\n")
        try program.configure("# nothing yet\n")
        #expect(try settings()["max_age"]?.value == "2d")
        // A piece is never without a setting.
        try write("# nothing\n", to: "b.yaml")
        let empty = try program.expect("list", status: 64)
        #expect(empty.errors.contains("the configuration '\(path("b.yaml"))' is empty"))
        try sandbox.write("max_age: 3d\n", to: "named")
        try sandbox.write("lock_wait: 3m\n", to: "named.d/a.yaml")
        #expect(try settings("--config", "named")["lock_wait"]?.value == "3m")
        try FileManager.default.removeItem(atPath: usual)
        try sandbox.link(Program.configuration, to: "nowhere")
        #expect(try program.expect("list", status: 64).errors.contains("is not there"))
    }

    @Test("A directory of pieces that cannot be used is an error that names it")
    func unusable() throws {
        try program.configure("prune: false\n")
        func expect(_ words: String, _ outcome: Tool.Outcome) {
            #expect(outcome.status == 64 && outcome.errors.contains(words), "\(outcome.errors)")
        }
        try sandbox.write("prune: true\n", to: Self.directory)
        expect("the configuration '\(path())' cannot be used: ", try program.run("list"))
        try FileManager.default.removeItem(atPath: path())
        try sandbox.link(Self.directory, to: "nowhere")
        expect("the configuration '\(path())' cannot be used: ", try program.run("list"))
        try FileManager.default.removeItem(atPath: path())
        try sandbox.directory("\(Self.directory)/a.yaml")
        expect("the configuration '\(path("a.yaml"))' is a directory", try program.run("list"))
    }

    /// Runs a command while calls that name a path fail.
    private func failing(_ calls: String, _ path: String, _ error: String) throws -> Tool.Outcome {
        try Tool.run(
            "strace",
            ["-f", "-o", "/dev/null", "-P", path, "-e", "inject=\(calls):error=\(error)"]
                + [Program.path, "config", "show"],
            environment: program.environment
        )
    }

    @Test(
        "A directory that may not be read is no missing one, but a piece may go while it is read",
        .enabled(if: Tool.isInstalled("strace"), "strace is not installed")
    )
    func failures() throws {
        try write("max_age: 2d\n", to: "a.yaml")
        let forbidden = try failing("openat", path(), "EACCES")
        #expect(forbidden.status == 64)
        #expect(forbidden.errors.contains("'\(path())' cannot be used: "), "\(forbidden.errors)")
        #expect(forbidden.errors.contains("permission denied"))
        let piece = try failing("openat", path("a.yaml"), "EACCES")
        #expect(piece.status == 64 && piece.errors.contains("'\(path("a.yaml"))' cannot be used: "))
        let calls = "?lstat,?newfstatat,?statx,?readlink,?readlinkat,openat"
        let gone = try failing(calls, path("a.yaml"), "ENOENT")
        #expect(gone.status == 0 && !gone.text.contains("max_age"), "\(gone.errors)")
    }

    @Test("Profiles of different stores with one origin are refused, whichever files they are in")
    func shared() throws {
        try program.configure("profiles: {a: {stores: /a, origin: nas}}\n")
        try write("profiles: {b: {stores: /b, origin: nas}}\n", to: "b.yaml")
        let outcome = try program.expect("list", "--profile", "a", status: 64)
        #expect(outcome.errors.contains("have different stores but the same 'origin': 'nas'"))
    }
}
