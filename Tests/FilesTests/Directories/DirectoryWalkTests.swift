internal import Files
internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("Directory: walking")
struct DirectoryWalkTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    @Test("parents come before children, and names in the order of their bytes")
    func order() throws {
        for path in ["b/2", "b/1", "a/z/y", "c", "a.b", "B"] { try sandbox.write(path, to: path) }
        try sandbox.link("b/link", to: "../a")
        #expect(
            try walk() == [
                "B", "a", "a/z", "a/z/y", "a.b", "b", "b/1", "b/2", "b/link", "c",
            ]
        )
    }

    @Test("what is skipped is seen, and what is in it is not")
    func skips() throws {
        for path in ["a/1", "b/2"] { try sandbox.write(path, to: path) }
        #expect(try walk { $0.path.description == "a" ? .skip : .descend } == ["a", "b", "b/2"])
    }

    @Test("what vanishes while it is walked is passed over")
    func vanishes() throws {
        for path in ["a", "b/1", "c"] { try sandbox.write(path, to: path) }
        let seen = try walk { walked in
            if walked.path.description == "a" { try LocalFileSystem().remove(sandbox.path("c")) }
            if walked.path.description == "b" { try LocalFileSystem().remove(sandbox.path("b")) }
            return .descend
        }
        #expect(seen == ["a", "b"])
    }

    @Test("a directory that became a link while it was walked is not followed")
    func becomesLink() throws {
        let outside = try Sandbox()
        try outside.write("secret", to: "secret")
        try sandbox.write("1", to: "a/1")
        let seen = try walk { walked in
            if walked.path.description == "a" {
                try LocalFileSystem().remove(sandbox.path("a"))
                try sandbox.link("a", to: outside.path.string)
            }
            return .descend
        }
        #expect(seen == ["a"])
    }

    // Root may read everything.
    @Test(
        "a directory that cannot be read is reported, and the walk goes on",
        .enabled(if: geteuid() != 0)
    )
    func unreadable() throws {
        for path in ["a/1", "b"] { try sandbox.write(path, to: path) }
        try Directory.open(sandbox.path("a")).setAttributes(mode: 0, modified: 0)
        var failed: [String] = []
        var seen: [String] = []
        try Directory.open(sandbox.path).walk(failed: { failed.append("\($0): \($1)") }) {
            seen.append($0.path.description)
            return .descend
        }
        #expect(seen == ["a", "b"])
        #expect(failed == ["a: cannot open '\(sandbox.path("a"))': permission denied"])
    }

    @Test("what the visitor throws ends the walk")
    func throwing() throws {
        for path in ["a", "b"] { try sandbox.write(path, to: path) }
        struct Enough: Error {}
        var count = 0
        #expect(throws: Enough.self) {
            _ = try walk { _ in
                count += 1
                throw Enough()
            }
        }
        #expect(count == 1)
    }

    private func walk(
        _ visit: (WalkedFile) throws -> WalkChoice = { _ in .descend }
    ) throws -> [String] {
        var seen: [String] = []
        try Directory.open(sandbox.path).walk(failed: { throw $1 }) {
            seen.append($0.path.description)
            return try visit($0)
        }
        return seen
    }
}
