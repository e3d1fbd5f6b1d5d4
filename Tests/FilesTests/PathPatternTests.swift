import Files
import SystemPackage
import TestSupport
import Testing

/// Holds patterns to what Git makes of them.
@Suite struct PathPatternTests {
    /// Names that patterns may meet or miss by a letter; one is not UTF-8, and one that Git does not list
    /// is not there.
    private static let names: [[UInt8]] =
        [
            "a", "b", "ab", "abc", "A", "a b", "a ", "*", "[a]", "\\a", "!a", "#a", ".a", "a.b",
            "é", "a-b", "0",
        ]
        .map { Array($0.utf8) } + [[0xFF, 0x61]]

    /// A directory of three levels in which every name is a directory on some and a file on others.
    private static func makeTree() throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.directory("T")
        try Tool.check("git", ["init", "--quiet", sandbox.path("T").string])
        func fill(_ directory: Directory, _ depth: Int, _ turn: Int) throws {
            for (index, bytes) in names.enumerated() {
                let name = try RelativePath(validating: bytes).name
                if depth < 3, (index + turn) % (depth + 2) == 0 {
                    try directory.createDirectory(name)
                    try fill(directory.directory(name), depth + 1, turn + index)
                } else {
                    _ = try directory.createFile(name)
                }
            }
        }
        try fill(.open(sandbox.path("T")), 0, 0)
        return sandbox
    }

    /// Everything in a tree, and what a walk leaves out of it.
    private static func walk(
        _ root: FilePath,
        _ patterns: [PathPattern]
    ) throws -> (all: [RelativePath], leftOut: Set<RelativePath>) {
        var (all, leftOut): ([RelativePath], Set<RelativePath>) = ([], [])
        try Directory.open(root).walk(failed: { throw $1 }) { file in
            if file.path.description == ".git" { return .skip }
            all.append(file.path)
            let isIn = file.path.parent.map(leftOut.contains) ?? false
            let verdict = patterns.verdict(
                on: file.path,
                isDirectory: file.info.kind == .directory
            )
            if isIn || verdict ?? false { leftOut.insert(file.path) }
            return .descend
        }
        return (all, leftOut)
    }

    private static func ignoredByGit(
        _ root: FilePath,
        _ paths: [RelativePath],
        _ lines: [String]
    ) throws -> Set<RelativePath> {
        let rules = Array((lines.joined(separator: "\n") + "\n").utf8)
        try LocalFileSystem().write(rules, to: root.appending(".git/info/exclude"))
        let outcome = try Tool.run(
            "git",
            ["check-ignore", "--no-index", "-z", "--stdin"],
            environment: [
                "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
            ],
            directory: root,
            input: paths.flatMap { Array("./".utf8) + $0.bytes + [0] }
        )
        try #require([0, 1].contains(outcome.status), "git: \(outcome.errors)")
        return try Set(
            outcome.output.split(separator: 0).map { try RelativePath(validating: $0.dropFirst(2)) }
        )
    }

    private static func compare(_ root: FilePath, _ lines: [String], _ hint: String = "") throws {
        let patterns = lines.compactMap { try? PathPattern($0) }
        let (all, leftOut) = try walk(root, patterns)
        let ignored = try ignoredByGit(root, all, lines)
        let difference = leftOut.symmetricDifference(ignored).sorted().prefix(5)
        #expect(
            difference.isEmpty,
            "\(hint) \(lines): of \(difference) Git ignores \(ignored.intersection(difference).sorted())"
        )
    }

    @Test(
        "A pattern means what it means to Git",
        .enabled(if: Tool.isInstalled("git"), "git is missing")
    )
    func table() throws {
        let sandbox = try Self.makeTree()
        for lines in [
            ["a"], ["A"], ["/a"], ["a/"], ["/a/"], ["a/b"], ["/a/b"], ["a/b/"], ["**/b"], ["a/**"],
            ["a/**/b"], ["**"], ["*"], ["/*"], ["*/"], ["*/*"], ["/*/a"], ["?"], ["??"], ["a?"],
            ["*b"],
            ["a*"], ["a*c"], ["*.*"], [".*"], ["[ab]"], ["[!a]"], ["[^a]"], ["[a-c]"], ["[c-a]"],
            ["[]a]"], ["[]-a]"], ["[a-]"], ["[\\]]"], ["[[:upper:]]"], ["[[:digit:][:lower:]]"],
            ["[[:nonsense:]]"], ["[a"], ["[[a]]"], ["\\*"], ["\\[a]"], ["\\\\a"], ["\\!a"],
            ["\\#a"],
            ["#a"], ["!a"], ["a\\"], ["a "], ["a\\ "], ["a  "], ["a b"], ["a\\ b"], ["\\a"], [" a"],
            ["a\\\\ "], ["*", "!a"], ["*", "!*/", "!a"], ["a", "!a/b"], ["/a/*", "!/a/b"],
            ["*b", "!ab", "ab"], ["a**b"], ["a/**b"], ["**a"], ["a**"], ["a**/b"], ["**/**/b"],
            ["/**/b"],
            ["**/"], ["/"], ["//"], ["a//b"], ["!"], [""], ["   "], ["***"], ["a/***/b"],
            ["*/**/a"],
            ["\\**"], ["a/\\b"], ["é"], ["?\u{301}"], ["??a"], ["[é]"], ["*[!a-z]*"], ["a\t"],
            ["[/]"],
            ["a[/]b"], ["a/[!b]"], ["a\\/b"], ["**\\/b"], ["/a/../b"], ["./a"],
        ] {
            try Self.compare(sandbox.path("T"), lines)
        }
    }

    @Test(
        "Random patterns mean what they mean to Git",
        .enabled(if: Tool.isInstalled("git"), "git is missing")
    )
    func property() throws {
        let sandbox = try Self.makeTree()
        let parts = [
            "a", "b", "ab", "A", "0", ".", "-", " ", "*", "*", "**", "**/", "/**", "?", "/", "/",
            "/", "!", "#",
            "\\", "\\*", "\\ ", "[ab]", "[!a]", "[a-c]", "[^", "[", "]", "[[:alpha:]]", "[]a]",
            "[\\]", "é",
        ]
        for seed in Fuzzing(usual: 150) {
            var random = Pseudorandom(seed: seed)
            let lines = (0...random.below(3)).map { _ in
                (0...random.below(5)).map { _ in random.pick(parts) }.joined()
            }
            try Self.compare(sandbox.path("T"), lines, "seed \(seed)")
        }
    }

    @Test("A pattern that could match nothing is refused with its reason")
    func refused() {
        for (text, reason) in [
            ("", "empty"), ("  ", "empty"), ("#a", "comment"), ("!", "names nothing"),
            ("/", "names nothing"), ("./a/", "'.'"), ("a/../b", "'..'"), ("a//b", "'//'"),
            ("a\\", "follows"), ("[a", "no ']'"), ("[[:x:]]", "unknown"), ("a\nb", "line break"),
        ] {
            let error = #expect(throws: PathPatternError.self) { try PathPattern(text) }
            #expect(error?.reason.contains(reason) ?? false, "\(text): \(error?.reason ?? "")")
        }
    }

    @Test("Lines of a file are patterns, but for comments and empty ones")
    func lines() throws {
        let patterns = try [PathPattern](lines: "\u{FEFF}a\r\n\n# no\n  \n!b \n\\#c\n")
        #expect(patterns.map(\.text) == ["a", "!b ", "\\#c"])
        #expect(patterns.map(\.isNegated) == [false, true, false])
        #expect(throws: PathPatternError.self) { try [PathPattern](lines: "a\n[\n") }
    }
}
