import Files
import Foundation
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("A second backup of one minute")
struct SameNameTests {
    private let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func backUp(
        _ sameName: SameName,
        after seconds: TimeInterval = 0,
        to folder: BackupFolder? = nil,
        skipping: Bool = false,
        queueing: Bool = false
    ) async throws -> CreateBackup.Outcome {
        var options = scene.options(at: Scene.morning + seconds)
        options.sameName = sameName
        options.skipsUnchanged = skipping
        options.queues = queueing
        return try await CreateBackup(
            of: scene.stores,
            to: folder ?? scene.folder(),
            options: options,
            context: scene.context()
        ).run()
    }

    private func trash() async throws -> [TrashedBackup] { try await scene.folder().trashed() }

    @Test(
        "A second backup of one minute does not take the name of another machine's encrypted backup"
    )
    func elsewhere() async throws {
        let scene = try Scene()
        let name = BackupName.make(Scene.morning, in: Scene.utc, isEncrypted: true)
        try scene.sandbox.write("sealed", to: "Remote/\(name)")
        var options = scene.options()
        options.isPlainByChoice = true
        let made = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(Elsewhere(folder: scene.remote)),
            options: options,
            context: scene.context()
        ).run()
        #expect(made.backup.name == BackupName.make(Scene.morning, in: Scene.utc, number: 2))
    }

    @Test(
        "A second backup of one minute replaces the first, which can be recovered",
        arguments: [false, true]
    )
    func replaces(isElsewhere: Bool) async throws {
        let remote = Elsewhere(folder: scene.remote, isFetching: true)
        let catalog = scene.catalog
        let folder = scene.folder(isElsewhere ? remote : nil, catalog: catalog)
        let first = try await backUp(.replace, to: folder)
        #expect(first.replaced == nil)
        let second = try await backUp(.replace, after: 1, to: folder)
        #expect(second.replaced?.id == first.backup.id && second.backups == 1)
        #expect(second.backup.name == first.backup.name && second.problems.isEmpty)
        let third = try await backUp(.replace, after: 2, to: folder)
        let listed = try await folder.list().backups
        #expect(listed.map(\.name) == [first.backup.name])
        #expect(listed.map(\.id) == [third.backup.id])
        #expect(try await trash().map(\.name) == [first.backup.name, first.backup.name])
        #expect(await folder.losses.vanished() == nil)
        #expect(try scene.leftovers().filter { $0 != Trash.subfolder } == [])
        let delete = DeleteBackup(from: folder, context: scene.context())
        try await delete.run(listed[0], at: Scene.morning, keepingTrash: .zero)
        _ = try await delete.undo(first.backup.name)
        #expect(try await scene.list().count == 1)
    }

    @Test("A second backup that is refused, or is unnecessary, changes nothing")
    func refused() async throws {
        let first = try await backUp(.fail).backup
        let before = try scene.sandbox.contents(of: "Remote")
        await #expect(
            throws: BackupFolderError.taken(first.displayName, address: scene.remote.address)
        ) {
            try await backUp(.fail)
        }
        for how in SameName.allCases {
            #expect(try await backUp(how, skipping: true).isUnchanged)
        }
        #expect(try scene.sandbox.contents(of: "Remote") == before)
        // Reported before any work, and again if another machine took the name meanwhile.
        try scene.sandbox.write("new", to: "Stores/note")
        await #expect(throws: BackupFolderError.self) { try await backUp(.fail, skipping: true) }
        #expect(try scene.sandbox.contents(of: "Remote") == before)
        #expect(try await backUp(.number).backup.name.contains(" (2) "))
    }

    @Test("A backup does not replace one of another machine, and none if it has much less data")
    func replacesNone() async throws {
        var other = scene.folder()
        other.origin = Origin(id: "1", name: "other")
        let first = try await backUp(.number, to: other).backup
        func expectNumber(_ number: Int, to folder: BackupFolder) async throws {
            let made = try await backUp(.replace, to: folder)
            #expect(made.replaced == nil)
            let name = BackupName.make(Scene.morning, in: Scene.utc, number: number)
            #expect(made.backup.name == name)
        }
        var own = scene.folder()
        own.origin = Origin(id: "2", name: "own")
        try await expectNumber(2, to: own)
        #expect(try await scene.list().contains { $0.id == first.id })
        for file in try Directory.open(scene.stores).names() {
            try LocalFileSystem().remove(scene.stores.appending(file.description))
        }
        try scene.sandbox.write("left", to: "Stores/note")
        try await expectNumber(3, to: other)
        #expect(try await trash().isEmpty)
    }

    @Test("A second backup of one minute does not replace a pinned one")
    func pinned() async throws {
        let first = try await backUp(.number).backup
        _ = try await PinBackup(in: scene.folder(), context: scene.context())
            .run(first.name, isPinned: true, at: Scene.morning)
        await #expect(throws: BackupFolderError.pinned(first.displayName)) {
            try await backUp(.replace)
        }
        #expect(try await scene.list().map(\.id) == [first.id])
    }

    @Test("A second backup that is cut off hides no pin of the first", arguments: [false, true])
    func cutOff(isPinned: Bool) async throws {
        let first = try await backUp(.number).backup
        if isPinned {
            _ = try await PinBackup(in: scene.folder(), context: scene.context())
                .run(first.name, isPinned: true, at: Scene.morning)
        }
        var options = scene.options(at: Scene.morning + 1)
        options.tags = ["new"]
        await #expect(throws: OperationError.self) {
            try await CreateBackup(
                of: scene.stores,
                to: scene.folder(CutFolder(folder: scene.remote)),
                options: options,
                context: scene.context()
            ).run()
        }
        // For a machine that has read no archive.
        let catalog = BackupCatalog(scene.sandbox.path("Cache/other.json"))
        let elsewhere = Elsewhere(folder: scene.remote, isFetching: true)
        let listed = try await scene.folder(elsewhere, catalog: catalog).list().backups
        #expect(listed.map(\.isPinned) == [isPinned] && listed.map(\.tags) == [[]])
        // What was written for it is not for the next one.
        options.tags = ["next"]
        let next = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(),
            options: options,
            context: scene.context()
        ).run().backup
        #expect(next.name.contains(" (3) "))
    }

    @Test("An archive that cannot replace another one leaves no tags under its name")
    func replacesWithout() async throws {
        let first = try await backUp(.number).backup
        try scene.sandbox.write("", to: "Remote/\(Trash.subfolder)")
        var new = first
        new.id = BackupID(rawValue: "new")
        let arrival = Arrival(
            .hidden(".hidden"),
            backup: new,
            annotation: Annotation(of: first.name, tags: ["new"], note: nil)
        )
        await #expect(throws: (any Error).self) {
            try await arrival.reveal(in: scene.folder(), .replace, at: Scene.morning)
        }
        let unread = Backup(RemoteFile(name: first.name, size: first.size), timeZone: Scene.utc)
        #expect(try await scene.folder().annotations().annotation(of: unread) == nil)
    }

    @Test(
        "A second backup keeps its number if the first cannot be removed or its name stays taken",
        arguments: [1, 2]
    )
    func stays(move: Int) async throws {
        let first = try await backUp(.number).backup
        // The new archive gets another name before that.
        let faulty = FaultyFileSystem(failing: .callOf(.move, 1 + move))
        let folder = scene.folder(LocalFolder(scene.remotePath, fileSystem: faulty))
        let outcome = try await backUp(.replace, to: folder)
        try faulty.assertFaultWasMet()
        #expect(outcome.problems.map(\.kind) == [.notRemoved])
        #expect(outcome.replaced == nil && outcome.backup.name.contains(" (2) "))
        #expect(try await Set(scene.list().map(\.id)) == [first.id, outcome.backup.id])
        #expect(try await trash().isEmpty)
    }

    @Test("A second backup takes the place at once even if it could wait, and a number if it must")
    func queueing() async throws {
        var folder = scene.folder()
        folder.outbox = Outbox(
            scene.sandbox.path("Cache/outbox"),
            limit: .init(),
            memory: folder.memory,
            timeZone: Scene.utc
        )
        let first = try await backUp(.replace, to: folder, queueing: true).backup
        let second = try await backUp(.replace, to: folder, queueing: true)
        #expect(second.replaced?.id == first.id && second.waitsFor == nil)
        try LocalFileSystem().move(scene.remotePath, to: scene.sandbox.path("Cache/away"))
        let third = try await backUp(.fail, to: folder, queueing: true)
        #expect(third.backup.isWaiting)
        try LocalFileSystem().move(scene.sandbox.path("Cache/away"), to: scene.remotePath)
        _ = try await UploadBackups(to: folder, context: scene.context()).run(at: Scene.morning)
        #expect(try await Set(scene.list().map(\.id)) == [second.backup.id, third.backup.id])
    }
}
