import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Files

@Suite("A directory that is watched")
struct DirectoryWatchTests {
    @Test("reports names that come, change and go, and nothing else", arguments: [true, false])
    func changes(usesEvents: Bool) throws {
        let sandbox = try Sandbox()
        try sandbox.directory("a/below")
        try sandbox.directory("b")
        let paths = ["a", "b", "missing"].map { sandbox.path($0) }
        let watch = DirectoryWatch(paths, usesEvents: usesEvents)
        #expect(!watch.wait(milliseconds: 0))
        let changes: [(String, () throws -> Void)] = [
            ("made", { try sandbox.write("1", to: "a/file") }),
            (
                "written to",
                {
                    let handle = try #require(
                        FileHandle(forWritingAtPath: sandbox.path("a/file").string)
                    )
                    try handle.write(contentsOf: Data("22".utf8))
                    try handle.close()
                }
            ),
            (
                "renamed",
                {
                    try LocalFileSystem().move(sandbox.path("a/file"), to: sandbox.path("b/file"))
                }
            ),
            ("removed", { try LocalFileSystem().remove(sandbox.path("b/file")) }),
        ]
        for (name, change) in changes {
            try change()
            #expect(watch.wait(milliseconds: usesEvents ? 10_000 : 10), "\(name)")
            #expect(!watch.wait(milliseconds: 0), "\(name)")
        }
        try sandbox.write("1", to: "a/below/file")
        _ = try Directory.open(sandbox.path("a")).names()
        // The directory's own change is none of a name in it.
        #expect(!watch.wait(milliseconds: 0) || !usesEvents)
    }
}
