import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Operations

@Suite("Annotations")
struct AnnotationsTests {
    private let sandbox: Sandbox
    private let remote: LocalFolder
    private let file = RemoteFile(name: "a Stores.zip", size: 5)

    init() throws {
        sandbox = try Sandbox()
        remote = LocalFolder(try sandbox.directory("Remote"))
    }

    private func files() async throws -> [String] {
        try await remote.list(in: Annotations.subfolder).map(\.name)
    }

    private func pin(_ name: String, at seconds: Double, size: Int64 = 5) async throws {
        var annotations = try await Annotations(of: remote)
        try await annotations.change(
            name,
            size: size,
            at: Date(timeIntervalSince1970: seconds)
        ) { $0.isPinned = true }
    }

    @Test("are in one file, which every change writes anew")
    func oneFile() async throws {
        #expect(try await Annotations(of: remote).annotation(of: file) == nil)
        try await pin(file.name, at: 1)
        let first = try await files()
        try await pin("b Stores.zip", at: 2)
        let second = try await files()
        #expect(first.count == 1 && second.count == 1 && first != second)
        #expect(try await Annotations(of: remote).annotation(of: file)?.isPinned == true)
        // What changes nothing writes nothing.
        try await pin(file.name, at: 3)
        #expect(try await files() == second)
    }

    @Test("of two machines are taken together, and of one backup the newest counts")
    func merging() async throws {
        func write(_ name: String, _ changed: Int, pinned: Bool, to copy: String) throws {
            try sandbox.write(
                """
                {"format":1,"backups":{"\(name)":{"size":5,"changed":\(changed),"tags":[],"pinned":\(pinned)}}}
                """,
                to: "Remote/\(Annotations.subfolder)/\(copy).json"
            )
        }
        try write(file.name, 10, pinned: true, to: "1")
        try write(file.name, 20, pinned: false, to: "1 (Anna's conflicted copy)")
        try write("b Stores.zip", 5, pinned: true, to: "2")
        var annotations = try await Annotations(of: remote)
        let other = RemoteFile(name: "b Stores.zip", size: 5)
        #expect(annotations.annotation(of: file)?.isPinned == false)
        #expect(annotations.annotation(of: other)?.isPinned == true)
        // With a clock that is behind, the change is the last word all the same.
        try await annotations.change(file.name, size: 5, at: .init(timeIntervalSince1970: 0)) {
            $0.isPinned = true
        }
        #expect(try await files().count == 1)
        let read = try await Annotations(of: remote)
        #expect(read.annotation(of: file)?.isPinned == true)
        #expect(read.annotation(of: other)?.isPinned == true)
    }

    @Test("of the end of time can be changed all the same", arguments: [Int64.max, .max - 1, .min])
    func endOfTime(changed: Int64) async throws {
        try sandbox.write(
            """
            {"format":1,"backups":{"\(file.name)":{"size":5,"changed":\(changed),"tags":["a"],"pinned":false}}}
            """,
            to: "Remote/\(Annotations.subfolder)/1.json"
        )
        try await pin(file.name, at: 1)
        try await pin("b Stores.zip", at: 2)
        let annotation = try await Annotations(of: remote).annotation(of: file)
        #expect(annotation?.isPinned == true && annotation?.tags == ["a"])
        #expect(try await files().count == 1)
    }

    @Test("are of one archive: another one of that name has none")
    func otherSize() async throws {
        try await pin(file.name, at: 1)
        var annotations = try await Annotations(of: remote)
        let other = RemoteFile(name: file.name, size: 6)
        #expect(annotations.annotation(of: other) == nil)
        try await annotations.change(file.name, size: 6, at: Date(timeIntervalSince1970: 2)) {
            $0.note = "new"
        }
        #expect(annotations.annotation(of: other)?.isPinned == false)
    }

    @Test(
        "that are not what they should be are an error",
        arguments: [
            "", "{", "{\"format\":2,\"backups\":{}}", "{\"format\":1,\"backups\":{\"a\":1}}",
        ]
    )
    func damage(content: String) async throws {
        try sandbox.write(content, to: "Remote/\(Annotations.subfolder)/1.json")
        await #expect(throws: OperationError.self) { try await Annotations(of: remote) }
    }

    @Test("that are longer than any are an error, be it found only once they were fetched")
    func tooLong() async throws {
        let path = try sandbox.write(
            Array(#"{"format":1,"backups":{}}"#.utf8) + [UInt8](repeating: 0x20, count: 65 << 20),
            to: "Remote/\(Annotations.subfolder)/1.json"
        )
        let liar = Elsewhere(folder: remote, isFetching: true, claimedSize: 1)
        await #expect(throws: OperationError.self) { try await Annotations(of: remote) }
        await #expect(throws: OperationError.self) { try await Annotations(of: liar) }
        try sandbox.stretch(path, to: 3 << 40)
        await #expect(throws: OperationError.self) { try await Annotations(of: remote) }
    }

    @Test("a change that fails loses nothing that was said", arguments: [Errno.noSpace, .ioError])
    func failures(errno: Errno) async throws {
        try await pin(file.name, at: 1)
        let steps = FaultyFileSystem()
        func change(_ fileSystem: FaultyFileSystem, to note: String) async throws {
            let folder = LocalFolder(remote.path, fileSystem: fileSystem)
            var annotations = try await Annotations(of: folder)
            try await annotations.change("b Stores.zip", size: 5, at: Scene.morning) {
                $0.note = note
            }
        }
        try await change(steps, to: "0")
        for step in 1...steps.calls.count {
            let fileSystem = FaultyFileSystem(failing: .call(step), with: errno)
            await #expect {
                try await change(fileSystem, to: "\(step)")
            } throws: { error in
                // What was written and may not be on the disk has an error of its own.
                error is FileError || (error as? RemoteError)?.problem != nil
            }
            try fileSystem.assertFaultWasMet()
            #expect(try await Annotations(of: remote).annotation(of: file)?.isPinned == true)
            let partial = try Directory.open(remote.path).names().filter {
                $0.description.hasSuffix(".partial")
            }
            #expect(partial.isEmpty)
        }
    }

    @Test("that were made with a backup are there as soon as it is")
    func withABackup() async throws {
        let scene = try Scene()
        var options = scene.options()
        options.tags = ["weekly", "a"]
        options.note = "before the move"
        let backup = try await CreateBackup(
            of: scene.stores,
            to: scene.remote,
            catalog: scene.catalog,
            options: options,
            context: scene.context()
        ).run().backup
        let listed = try #require(try await scene.list().first)
        #expect(listed.tags == ["weekly", "a"])
        #expect(listed.note == "before the move")
        #expect(backup.tags == listed.tags)
        #expect(!listed.isPinned)
    }

    @Test("stay those of a backup in the trash: no new one gets its name")
    func trashed() async throws {
        let scene = try Scene()
        let first = try await scene.backUp().backup
        try await Trash(remote: scene.remote).put(first.name, at: Scene.morning + 1)
        let second = try await scene.backUp().backup
        #expect(second.name != first.name)
        let entry = try #require(try await Trash(remote: scene.remote).entries().first)
        try await Trash(remote: scene.remote).takeOut(entry)
        #expect(try await scene.list().count == 2)
    }

    @Test("of a backup of the same minute stay, whatever is said of the next one")
    func sameMinute() async throws {
        let scene = try Scene()
        let first = try await scene.backUp().backup
        var annotations = try await Annotations(of: scene.remote)
        try await annotations.change(first.name, size: first.size, at: Scene.morning) {
            $0.isPinned = true
        }
        var options = scene.options()
        options.tags = ["a"]
        let second = try await CreateBackup(
            of: scene.stores,
            to: scene.remote,
            catalog: scene.catalog,
            options: options,
            context: scene.context()
        ).run().backup
        let listed = try await scene.list()
        #expect(listed.first { $0.name == first.name }?.isPinned == true)
        #expect(listed.first { $0.name == second.name }?.tags == ["a"])
    }
}
