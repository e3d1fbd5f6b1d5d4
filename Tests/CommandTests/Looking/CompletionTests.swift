import Files
import SystemPackage
import TestSupport
import Testing

@Suite("The completion of names in a shell")
struct CompletionTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.sandbox.directory("Remote")
        try program.expect("init", "--stores", "Stores")
        try program.sandbox.write(
            "stores: ~/Stores\nremote: ~/Remote\nprofiles:\n  default: {}\n  photos: {}\n",
            to: Program.configuration
        )
    }

    /// Returns what bash offers at the end of a line, by the program's own script.
    private func offers(_ words: String...) throws -> [String] {
        let script = try program.expect("--generate-completion-script", "bash").output
        try program.sandbox.write(script, to: "completion.bash")
        let typed = words.map { "'\($0)'" }.joined(separator: " ")
        let line = """
            source completion.bash
            COMP_WORDS=('\(Program.path)' \(typed)); COMP_CWORD=\(words.count)
            COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
            _grocerydude grocerydude '\(words.last ?? "")' '\(words.dropLast().last ?? "")'
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let outcome = try Tool.run(
            "bash",
            ["-c", line],
            environment: program.environment,
            directory: program.sandbox.path
        )
        #expect(outcome.errors.isEmpty, "\(outcome.errors)")
        return outcome.text.split(separator: "\n").map(String.init)
    }

    @Test("A shell offers the backups that were seen, and runs nothing that is in a name")
    func backups() throws {
        let name = try program.expect("backup").text.split(separator: "\n").joined()
        let hostile = "$(touch ran) `touch ran` 'a' Stores.zip"
        let archive = try program.sandbox.read("Remote/\(name)")
        try program.sandbox.write(archive, to: "Remote/\(hostile)")
        #expect(try offers("show", "") == ["latest", "live"] + [String(name.dropLast(11))])
        try program.expect("list")
        let seen = try offers("restore", "")
        #expect(
            seen.contains(String(name.dropLast(11))) && seen.contains(String(hostile.dropLast(11)))
        )
        #expect(!program.sandbox.exists("ran"))
        #expect(try offers("restore", "--remote", "Elsewhere", "") == ["latest"])
    }

    @Test("A shell offers the profiles, and nothing if the configuration cannot be read")
    func profiles() throws {
        #expect(try offers("backup", "--profile", "") == ["default", "photos"])
        try program.sandbox.write("profiles: [", to: Program.configuration)
        #expect(try offers("backup", "--profile", "") == [])
        #expect(try offers("show", "") == ["latest", "live"])
    }
}
