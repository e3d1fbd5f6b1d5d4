import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Files

@Suite("Names and keys")
struct ExactStringTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    @Test("are their bytes, whatever Unicode takes for equal")
    func bytes() {
        #expect(Self.composed == Self.decomposed)
        #expect(Self.composed.exact != Self.decomposed.exact)
        #expect(Self.composed.exact == "caf\u{E9}")
        #expect(Set([Self.composed.exact, Self.decomposed.exact]).count == 2)
        #expect(
            ["z", Self.composed, "a", Self.decomposed].map(\.exact).sorted().map(\.text)[1].utf8
                .count == 6
        )
        #expect(!"a/\u{301}b".exact.hasPrefix("a/\u{E9}"))
        #expect("a/\u{301}b".exact.hasPrefix("a/"))
    }

    @Test(
        "that are derived from long ones fit, end where a character does, and keep long names apart"
    )
    func derived() throws {
        #expect(FileName("Stores").derived("_New") == "Stores_New")
        #expect(FileName("Stores").derived(".json", prefix: ".") == ".Stores.json")
        var names: Set<FileName> = []
        for letter in ["a", "\u{E9}", "\u{20AC}", "\u{1F95B}"] {
            for end in 0..<4 {
                let text = String(repeating: letter, count: 240 / letter.utf8.count)
                let long = try RelativePath(text + String(repeating: "x", count: 10 + end)).name
                for (suffix, room) in [("_New", 0), ("_FailedRestore_12", 0), (".draft", 20)] {
                    let name = long.derived(suffix, prefix: ".", room: room)
                    #expect(name.bytes.count <= 255 - room)
                    #expect(
                        String(validating: name.bytes, as: UTF8.self)?.hasSuffix(suffix) == true
                    )
                    #expect(name == long.derived(suffix, prefix: ".", room: room))
                    names.insert(name)
                }
            }
        }
        #expect(names.count == 4 * 4 * 3)
        let path = FilePath("/a/\(String(repeating: "n", count: 255))")
        #expect(path.derived("_Old").removingLastComponent() == "/a")
        #expect(path.derived("_Old").lastComponent?.string.utf8.count == 255)
    }

    @Test("that are too long are of nothing, and no error")
    func tooLong() throws {
        let sandbox = try Sandbox()
        let long = String(repeating: "n", count: 256)
        #expect(try FileInfo.ifPresent(sandbox.path(long)) == nil)
        #expect(throws: FileError.failed(.create, sandbox.path(long), .fileNameTooLong)) {
            _ = try File.create(sandbox.path(long))
        }
        let error = FileError.failed(.create, sandbox.path(long), .fileNameTooLong)
        #expect(!error.isMissing)
        // A path that is longer than one call takes may be of something.
        let deep = FilePath(String(repeating: "/directory", count: 500))
        #expect(!FileError.failed(.inspect, deep, .fileNameTooLong).isMissing)
        let longest = FilePath("/\(String(repeating: "n", count: 255))")
        #expect(FileError.failed(.inspect, longest, .fileNameTooLong).isMissing)
        // A draft of a file with the longest name is written all the same.
        let file = sandbox.path(String(repeating: "n", count: 255))
        try LocalFileSystem().write([1], to: file)
        #expect(try Directory.open(sandbox.path).names().count == 1)
    }
}
