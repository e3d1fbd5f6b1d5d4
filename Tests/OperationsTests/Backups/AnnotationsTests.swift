import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Annotations")
struct AnnotationsTests {
    private let sandbox: Sandbox
    private let remote: LocalFolder
    private let file = backup("a Stores.zip", "1")
    private let other = backup("b Stores.zip", "2")

    private static func backup(_ name: String, _ id: String?) -> Backup {
        var backup = Backup(RemoteFile(name: name, size: 5), timeZone: Scene.utc)
        backup.id = id.map(BackupID.init)
        return backup
    }

    private func annotations(of remote: (any RemoteFolder)? = nil) async throws -> Annotations {
        try await Annotations(of: remote ?? self.remote, staging: self.remote.path)
    }

    init() throws {
        sandbox = try Sandbox()
        remote = LocalFolder(try sandbox.directory("Remote"))
    }

    private func files() async throws -> [String] {
        try await remote.subfolder(Annotations.subfolder).list().map(\.name)
    }

    private func pin(_ backup: Backup, at seconds: Double) async throws {
        var annotations = try await self.annotations()
        try await annotations.change(backup, at: Date(timeIntervalSince1970: seconds)) {
            $0.isPinned = true
        }
    }

    @Test("Annotations are in one file, which every change writes again")
    func oneFile() async throws {
        #expect(try await annotations().annotation(of: file) == nil)
        try await pin(file, at: 1)
        let first = try await files()
        try await pin(other, at: 2)
        let second = try await files()
        #expect(first.count == 1 && second.count == 1 && first != second)
        #expect(try await annotations().annotation(of: file)?.isPinned == true)
        // An edit that changes nothing writes nothing.
        try await pin(file, at: 3)
        #expect(try await files() == second)
    }

    @Test("A new backup takes nothing of another one, and not the name of its annotation")
    func newBackup() async throws {
        let unread = Self.backup(file.name, nil)
        try await pin(unread, at: 1)
        var annotations = try await self.annotations()
        func add(as name: String) async throws -> Annotation {
            let new = Self.backup(name, "3")
            return try await annotations.add(
                new,
                BackupID(rawValue: "3"),
                at: Date(timeIntervalSince1970: 2)
            ) { $0.tags = ["new"] }
        }
        await #expect(throws: RemoteError.self) { try await add(as: file.name) }
        for name in ["a (2) Stores.zip", "a (3) Stores.zip"] {
            let written = try await add(as: name)
            #expect(written.name == name && written.tags == ["new"] && !written.isPinned)
        }
        #expect(try await self.annotations().annotation(of: unread)?.isPinned == true)
        let numbered = Self.backup("a (3) Stores.zip", "3")
        #expect(try await self.annotations().annotation(of: numbered)?.isPinned == false)
    }

    @Test("A copy's damage is not that of a file of another size", arguments: [5, 6])
    func otherSize(size: Int64) {
        var copy = Backup(RemoteFile(name: "copy Stores.zip", size: size), timeZone: Scene.utc)
        copy.id = file.id
        var annotation = Annotation(of: file.name, tags: [], note: nil)
        annotation.takeDamage("cut", of: copy, in: "", at: Scene.morning)
        for isCopy in [true, false] {
            #expect(annotation.damage(of: copy) { _, _ in isCopy } != nil)
            #expect((annotation.damage(of: file) { _, _ in isCopy } != nil) == (size == file.size))
        }
    }

    @Test("A damaged annotations file is named by its path")
    func damagedFile() async throws {
        try await pin(file, at: 1)
        let name = try #require(try await files().first)
        try sandbox.write("{", to: "Remote/\(Annotations.subfolder)/\(name)")
        let error = await #expect(throws: BackupFolderError.self) { try await annotations() }
        let path = try #require(error?.hint?.split(separator: "'").last)
        #expect(try FileInfo(of: FilePath(String(path))).kind == .file)
    }

    @Test("Annotations of two machines merge: the newest tags, and a pin or damage of either")
    func merging() async throws {
        func write(_ id: String, _ changed: Int, pinned: Bool, to copy: String) throws {
            try sandbox.write(
                """
                {"format":1,"backups":{"\(id)":{"name":"a","changed":\(changed),"tags":[],"pinned":\(pinned)}}}
                """,
                to: "Remote/\(Annotations.subfolder)/\(copy).json"
            )
        }
        try sandbox.write(
            """
            {"format":1,"backups":{"1":{"name":"a","changed":10,"tags":["old"],"pinned":false,\
            "damage":{"a":{"reason":"cut","depth":"data"}}}}}
            """,
            to: "Remote/\(Annotations.subfolder)/0.json"
        )
        try write("1", 20, pinned: true, to: "1")
        try write("1", 30, pinned: false, to: "1 (Anna's conflicted copy)")
        try write("2", 5, pinned: true, to: "2")
        var annotations = try await self.annotations()
        #expect(annotations.annotation(of: file)?.isPinned == true)
        #expect(annotations.annotation(of: file)?.tags == [])
        #expect(annotations.annotation(of: file)?.damage?["a"]?.reason == "cut")
        #expect(annotations.annotation(of: other)?.isPinned == true)
        // With a clock that is behind, the change is the last word all the same.
        try await annotations.change(file, at: .init(timeIntervalSince1970: 0)) {
            $0.isPinned = false
        }
        #expect(try await files().count == 1)
        let read = try await self.annotations()
        #expect(read.annotation(of: file)?.isPinned == false)
        #expect(read.annotation(of: other)?.isPinned == true)
    }

    @Test(
        "Annotations dated at the end of time can still be changed",
        arguments: [Int64.max, .max - 1, .min]
    )
    func endOfTime(changed: Int64) async throws {
        try sandbox.write(
            """
            {"format":1,"backups":{"1":{"name":"a Stores.zip","changed":\(changed),"tags":["a"],"pinned":false}}}
            """,
            to: "Remote/\(Annotations.subfolder)/1.json"
        )
        try await pin(file, at: 1)
        try await pin(other, at: 2)
        let annotation = try await annotations().annotation(of: file)
        #expect(annotation?.isPinned == true && annotation?.tags == ["a"])
        #expect(try await files().count == 1)
    }

    @Test("Annotations follow a backup that is renamed, and not its name")
    func renamed() async throws {
        try await pin(file, at: 1)
        let read = try await annotations()
        #expect(read.annotation(of: Self.backup("new Stores.zip", "1"))?.isPinned == true)
        #expect(read.annotation(of: Self.backup(file.name, "3")) == nil)
        // As long as its identity is not known, the name that it had has to do.
        #expect(read.annotation(of: Self.backup(file.name, nil))?.isPinned == true)
    }

    @Test("Annotations of an unopened backup are under its name, and move once it is opened")
    func unknownIdentity() async throws {
        try await pin(Self.backup(file.name, nil), at: 1)
        #expect(try await annotations().annotation(of: file)?.isPinned == true)
        var read = try await annotations()
        try await read.change(file, at: Date(timeIntervalSince1970: 2)) { $0.tags = ["a"] }
        let moved = try await annotations().annotation(of: Self.backup("new Stores.zip", "1"))
        #expect(moved?.isPinned == true && moved?.tags == ["a"])
        #expect(try await annotations().annotation(of: Self.backup(file.name, "3")) == nil)
    }

    @Test(
        "Annotations under a name and under an identity both count once they belong to one backup"
    )
    func twoKeys() async throws {
        var first = try await annotations()
        try await first.change(file, at: Date(timeIntervalSince1970: 1)) { $0.tags = ["nightly"] }
        // Renamed, and pinned where its identity is not known.
        try await pin(Self.backup("new Stores.zip", nil), at: 2)
        let renamed = Self.backup("new Stores.zip", "1")
        #expect(try await annotations().annotation(of: renamed)?.isPinned == true)
        var read = try await annotations()
        try await read.forget([file.name.exact], keeping: [renamed])
        #expect(try await annotations().annotation(of: renamed)?.isPinned == true)
        try await read.change(renamed, at: Date(timeIntervalSince1970: 3)) { $0.isPinned = false }
        #expect(try await annotations().annotation(of: renamed)?.isPinned == false)
    }

    @Test("Annotations are forgotten with the last file of their backup")
    func forgotten() async throws {
        try await pin(file, at: 1)
        var read = try await annotations()
        let copy = Self.backup("copy Stores.zip", "1")
        try await read.forget([file.name.exact], keeping: [copy])
        #expect(try await annotations().annotation(of: copy)?.isPinned == true)
        // What is pinned is not removed: a list that lags does not have it.
        try await read.forget([file.name.exact], keeping: [])
        #expect(try await annotations().annotation(of: copy)?.isPinned == true)
        try await read.change(copy, at: Date(timeIntervalSince1970: 2)) { $0.isPinned = false }
        try await read.forget([copy.name.exact], keeping: [])
        #expect(try await annotations().annotation(of: copy) == nil)
    }

    @Test(
        "Malformed annotations are an error",
        arguments: [
            "", "{", "{\"format\":2,\"backups\":{}}", "{\"format\":1,\"backups\":{\"a\":1}}",
        ]
    )
    func damage(content: String) async throws {
        try sandbox.write(content, to: "Remote/\(Annotations.subfolder)/1.json")
        await #expect(throws: BackupFolderError.self) { try await annotations() }
    }

    @Test("Annotations that are too long are an error, even if that shows only after a fetch")
    func tooLong() async throws {
        let path = try sandbox.write(
            Array(#"{"format":1,"backups":{}}"#.utf8) + [UInt8](repeating: 0x20, count: 65 << 20),
            to: "Remote/\(Annotations.subfolder)/1.json"
        )
        let liar = Elsewhere(folder: remote, isFetching: true, claimedSize: 1)
        await #expect(throws: BackupFolderError.self) { try await annotations() }
        await #expect(throws: BackupFolderError.self) { try await annotations(of: liar) }
        try sandbox.stretch(path, to: 3 << 40)
        await #expect(throws: BackupFolderError.self) { try await annotations() }
    }

    @Test(
        "A change of annotations that fails loses no earlier annotation",
        arguments: [Errno.noSpace, .ioError]
    )
    func failures(errno: Errno) async throws {
        try await pin(file, at: 1)
        let steps = FaultyFileSystem()
        @discardableResult
        func change(
            _ fileSystem: FaultyFileSystem,
            to note: String
        ) async throws -> RemoteError? {
            let folder = LocalFolder(remote.path, fileSystem: fileSystem)
            var annotations = try await self.annotations(of: folder)
            try await annotations.change(other, at: Scene.morning) {
                $0.note = note
            }
            return annotations.notSynced
        }
        try await change(steps, to: "0")
        for step in 1...steps.calls.count {
            let fileSystem = FaultyFileSystem(failing: .call(step), with: errno)
            do {
                // What is written and may not be on the disk is done, and reported.
                #expect(try await change(fileSystem, to: "\(step)")?.problem != nil)
                let note = try await annotations().annotation(of: other)?.note
                #expect(note == "\(step)")
            } catch is FileError {}
            try fileSystem.assertFaultWasMet()
            #expect(try await annotations().annotation(of: file)?.isPinned == true)
            let partial = try Directory.open(remote.path).names().filter {
                $0.description.hasSuffix(".partial")
            }
            #expect(partial.isEmpty)
        }
    }

    @Test("Annotations that are made with a backup are there as soon as it is")
    func withABackup() async throws {
        let scene = try Scene()
        var options = scene.options()
        options.tags = ["weekly", "a"]
        options.note = "before the move"
        let backup = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run().backup
        let listed = try #require(try await scene.list().first)
        #expect(listed.tags == ["weekly", "a"])
        #expect(listed.note == "before the move")
        #expect(backup.tags == listed.tags)
        #expect(!listed.isPinned)
    }

    @Test("Annotations of a backup in the trash stay its own: no new backup gets its name")
    func trashed() async throws {
        let scene = try Scene()
        let first = try await scene.backUp().backup
        try await scene.folder().trash.put(first.name, at: Scene.morning + 1)
        let second = try await scene.backUp().backup
        #expect(second.name != first.name)
        try await scene.folder().trash.bringBack(first.name)
        #expect(try await scene.list().count == 2)
    }

    @Test("Annotations of a backup stay if the next backup of the same minute gets others")
    func sameMinute() async throws {
        let scene = try Scene()
        let first = try await scene.backUp().backup
        var annotations = try await scene.folder().annotations()
        try await annotations.change(first, at: Scene.morning) {
            $0.isPinned = true
        }
        var options = scene.options()
        options.tags = ["a"]
        let second = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run().backup
        let listed = try await scene.list()
        #expect(listed.first { $0.name == first.name }?.isPinned == true)
        #expect(listed.first { $0.name == second.name }?.tags == ["a"])
    }
}
