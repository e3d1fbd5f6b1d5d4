import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@Suite(
    "Transfers of many files in one process",
    .enabled(if: Tool.isInstalled("rclone"), "rclone is not installed")
)
struct BatchFolderTests {
    private let sandbox: Sandbox
    private let folder: RcloneFolder
    private let scratch: FilePath

    init() throws {
        sandbox = try Sandbox()
        folder = RcloneFolder(try sandbox.directory("Folder [1]").string)
        scratch = try sandbox.directory("scratch")
    }

    private func places(_ names: String...) -> [BatchPlace] {
        names.map { BatchPlace(["group", "log"], $0) } + [BatchPlace([], "mark")]
    }

    @Test("A batch sends, lists, downloads and removes files, and sends a truncated file again")
    func all() async throws {
        let places = places("one", "two {x}")
        let files = try places.map { place in
            (path: try sandbox.write("all of \(place.name)", to: "out/\(place.name)"), place: place)
        }
        // A part of one is there, as a cut connection leaves it.
        try sandbox.write("all", to: "Folder [1]/group/log/one")
        try sandbox.write("other", to: "Folder [1]/group/info/card")
        try await folder.upload(files, scratch: scratch)
        #expect(try files.allSatisfy { try FileInfo.ifPresent($0.path) != nil })
        let ways = [[], ["group", "log"], ["group", "none"]]
        let listed = try await folder.list(ways)
        #expect(listed[[]]?.map(\.name) == ["mark"])
        #expect(listed[["group", "log"]]?.map(\.name).sorted() == ["one", "two {x}"])
        #expect(listed[["group", "log"]]?.first { $0.name == "one" }?.size == 10)
        #expect(listed[["group", "none"]] == nil && listed[["group", "info"]] == nil)
        let target = try sandbox.directory("in")
        let missing = BatchPlace(["group", "log"], "missing")
        try await folder.download(places + [missing], to: target, scratch: scratch)
        #expect(
            String(decoding: try sandbox.read("in/group/log/two {x}"), as: UTF8.self)
                == "all of two {x}"
        )
        #expect(sandbox.exists("in/mark") && !sandbox.exists("in/group/log/missing"))
        try await folder.delete(places.dropLast() + [missing], scratch: scratch)
        let left = try await folder.list(ways)
        #expect(left[["group", "log"]] == nil && left[[]]?.count == 1)
        #expect(sandbox.exists("Folder [1]/group/info/card"))
        #expect(try Directory.open(scratch).names().isEmpty)
    }

    @Test("A batch reports a missing folder")
    func missing() async throws {
        let gone = RcloneFolder(sandbox.path("gone").string)
        await #expect(throws: RemoteError.self) { try await gone.list([[], ["group"]]) }
    }
}
