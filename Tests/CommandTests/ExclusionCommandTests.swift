import Files
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite("Exclusions from the command line")
struct ExclusionCommandTests {
    private let program: Program
    private let places = ["--stores", "Stores", "--remote", "Remote"]

    init() throws {
        program = try Program()
        try program.make(stores: "Stores", remote: "Remote")
        for path in ["a.tmp", "b.log", "c.bak", "d.nosync/e", "cache/f"] {
            try program.sandbox.write("x", to: "Stores/\(path)")
        }
        try program.sandbox.write(
            "Signature: 8a477f597d28d172789f06886806bc55",
            to: "Stores/cache/CACHEDIR.TAG"
        )
    }

    private struct Excluded: Decodable {
        var patterns: [String]
        var caches: Bool
        var count: Int
        var paths: [String]
    }

    /// Backs up, and returns what the backup says that it left out.
    private func leftOut(_ arguments: String...) throws -> Excluded {
        struct Made: Decodable {
            var name: String
            var left_out: Int
        }
        struct Shown: Decodable { var excluded: Excluded }
        let made = try JSONDecoder().decode(
            Made.self,
            from: Data(program.run(["backup", "--json"] + places + arguments).output)
        )
        let shown = try program.run(["show", made.name, "--json"] + places)
        let excluded = try JSONDecoder().decode(Shown.self, from: Data(shown.output)).excluded
        #expect(made.left_out == excluded.count)
        return excluded
    }

    @Test("Exclusions come from the defaults, the configuration, files and flags, in this order")
    func order() throws {
        try program.sandbox.write("# a comment\n\n*.log\n", to: "ignored")
        try program.configure("exclude: ['*.tmp', '*.bak']\nexclude_caches: true\n")
        let excluded = try leftOut("--exclude-file", "ignored", "--exclude", "!*.bak")
        #expect(excluded.patterns == ["*.nosync/", "*.tmp", "*.bak", "*.log", "!*.bak"])
        #expect(excluded.caches)
        #expect(excluded.paths == ["a.tmp", "b.log", "cache", "d.nosync"])
    }

    @Test("Directories called '*.nosync' are excluded unless they are included again")
    func standard() throws {
        #expect(try leftOut().paths == ["d.nosync"])
        #expect(try leftOut("--exclude", "!*.nosync/").paths.isEmpty)
        #expect(try leftOut("--set", "exclude_caches=true").paths == ["cache", "d.nosync"])
    }

    @Test("A backup lists each excluded file if requested, and otherwise their number")
    func reported() throws {
        let arguments = ["backup", "--exclude", "*.tmp"] + places
        let plain = try program.run(arguments).errors
        #expect(plain.contains("2 paths were left out") && !plain.contains("a.tmp"))
        #expect(try program.run(arguments + ["-v"]).errors.contains("'a.tmp' is left out"))
        let text = try program.run(["show", "latest"] + places).text
        #expect(text.contains("excludes  *.nosync/, *.tmp"))
        #expect(text.contains("left out  a.tmp"))
    }

    @Test("An exclusion that could match nothing, or a file that cannot be read, is refused")
    func refused() throws {
        try program.sandbox.write("a\n[b\n", to: "bad")
        try program.sandbox.write([0xFF, 0x0A], to: "binary")
        for (arguments, text) in [
            (["--exclude", "[a"], "'[a' is refused"), (["--exclude", "#a"], "comment"),
            (["--exclude-file", "bad"], "'[b' is refused"),
            (["--exclude-file", "none"], "cannot open 'none'"),
            (["--exclude-file", "binary"], "not UTF-8"),
        ] {
            let outcome = try program.run(["backup"] + places + arguments)
            #expect(outcome.status == 64, "\(arguments): \(outcome.errors)")
            #expect(outcome.errors.contains(text), "\(arguments): \(outcome.errors)")
        }
        try program.configure("exclude: ['*.tmp', '/']\n")
        let outcome = try program.run(["backup"] + places)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("'exclude'") && outcome.errors.contains("names nothing"))
        #expect(try Directory.open(program.sandbox.path("Remote")).names().isEmpty)
    }

    @Test("An exclusion of every store is refused with a hint")
    func everyStore() throws {
        let outcome = try program.run(["backup", "--exclude", "*.sqlite"] + places)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("every store in"))
        #expect(outcome.errors.contains(#""--exclude '!PATTERN'""#))
    }
}
