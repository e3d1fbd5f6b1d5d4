import Files
import Foundation
import History
import Remotes
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Copying backups to another folder")
struct CopyBackupsTests {
    private let scene: Scene
    private let other: LocalFolder

    init() throws {
        scene = try Scene()
        other = LocalFolder(try scene.sandbox.directory("Other"))
    }

    private var log: RunLog { RunLog(scene.sandbox.path("Cache/log.sqlite")) }
    private var now: Date { Scene.morning + 86_400 }

    private func folder(_ remote: (any RemoteFolder)? = nil) throws -> BackupFolder {
        BackupFolder(
            remote ?? other,
            staging: remote == nil
                ? other.path : try scene.sandbox.directory("Scratch/staging"),
            // A machine that has not seen the backups in the other folder.
            memory: BackupMemory(
                catalog: BackupCatalog(scene.sandbox.path("Cache/other.json")),
                log: log
            ),
            timeZone: Scene.utc
        )
    }

    @discardableResult
    private func copy(
        _ names: [String]? = nil,
        to remote: (any RemoteFolder)? = nil,
        context: OperationContext? = nil,
        _ change: (inout CopyBackups.Options) -> Void = { _ in }
    ) async throws -> CopyBackups.Outcome {
        var options = CopyBackups.Options(date: now)
        change(&options)
        return try await CopyBackups(
            from: scene.folder(log: log),
            to: folder(remote),
            options: options,
            context: context ?? scene.context()
        ).run(names)
    }

    @Test("A copy's damage is not that of the good backup, which can be copied again")
    func damagedCopy() async throws {
        let made = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(log: log),
            options: scene.options(),
            context: scene.context()
        ).run().backup
        // One machine knows both folders.
        let catalog = scene.catalog
        let (first, second) = (
            scene.folder(catalog: catalog, log: log),
            scene.folder(other, catalog: catalog, log: log)
        )
        func copy(from source: BackupFolder, to name: String) async throws -> CopyBackups.Outcome {
            let target = LocalFolder(try scene.sandbox.directory(name))
            return try await CopyBackups(
                from: source,
                to: scene.folder(target, catalog: catalog, log: log),
                options: .init(date: now),
                context: scene.context()
            ).run(nil)
        }
        #expect(try await copy(from: first, to: "Other").copied.count == 1)
        try damage(made.name, in: other.path)
        let damaged = try await second.list().backups[0]
        let check = CheckBackups(in: second, options: .init(), context: scene.context())
        #expect(try await !check.run(damaged, at: now).isGood)
        #expect(try await second.list().backups[0].damage != nil)
        #expect(try await first.list().backups[0].damage == nil)
        #expect(try await copy(from: first, to: "Third").copied.count == 1)
        // Moved, it takes its damage along.
        let third = scene.folder(
            LocalFolder(try scene.sandbox.directory("Fourth")),
            catalog: catalog,
            log: log
        )
        try LocalFileSystem().move(
            other.path.appending(made.name),
            to: scene.sandbox.path("Fourth").appending(made.name)
        )
        #expect(try await third.list().backups[0].damage != nil)
    }

    @Test("Damage of a copy elsewhere is not that of the backup in another folder elsewhere")
    func damagedElsewhere() async throws {
        let catalog = scene.catalog
        func folder(_ remote: LocalFolder, _ name: String) throws -> BackupFolder {
            BackupFolder(
                Elsewhere(folder: remote, isFetching: true, description: name),
                staging: try scene.sandbox.directory("Scratch/\(name)"),
                memory: BackupMemory(catalog: catalog, log: log),
                timeZone: Scene.utc
            )
        }
        let (first, second) = (try folder(scene.remote, "first"), try folder(other, "second"))
        let made = try await CreateBackup(
            of: scene.stores,
            to: first,
            options: scene.options(),
            context: scene.context()
        ).run().backup
        let copied = try await CopyBackups(
            from: first,
            to: second,
            options: .init(date: now),
            context: scene.context()
        ).run(nil)
        #expect(copied.copied.count == 1)
        try damage(made.name, in: other.path)
        let copy = try await second.list().backups[0]
        let check = CheckBackups(in: second, options: .init(), context: scene.context())
        #expect(try await !check.run(copy, at: now).isGood)
        #expect(try await second.list().backups[0].damage != nil)
        #expect(try await first.list().backups[0].damage == nil)
    }

    private func names() throws -> [String] {
        try Directory.open(other.path).names().map(\.description).filter {
            $0 != Annotations.subfolder
        }
        .sorted()
    }

    /// Changes a byte of an archive's first entry.
    private func damage(_ name: String, in folder: FilePath) throws {
        let path = folder.appending(name)
        var bytes = try File.contents(of: path, limit: 1 << 30)
        // One byte may be one that no decoder looks at.
        for index in bytes.count / 3..<bytes.count / 3 + 64 { bytes[index] ^= 0xFF }
        try LocalFileSystem().remove(path)
        let file = try File.create(path)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }

    @Test("A copy keeps names, bytes, identities, tags, notes and pins", arguments: [false, true])
    func keeps(isElsewhere: Bool) async throws {
        var options = scene.options()
        options.tags = ["a"]
        options.note = "first"
        let first = try await CreateBackup(
            of: scene.stores,
            to: scene.folder(log: log),
            options: options,
            context: scene.context()
        ).run().backup
        let second = try await scene.backUp(at: Scene.morning + 60).backup
        _ = try await PinBackup(in: scene.folder(log: log), context: scene.context())
            .run(second.name, isPinned: true, at: now)
        let remote = Elsewhere(folder: other, isFetching: true)
        let outcome = try await copy(to: isElsewhere ? remote : nil)
        #expect(outcome.copied.map { $0.copy?.name } == [first.name, second.name])
        #expect(outcome.problems.isEmpty && outcome.failure == nil)
        #expect(try names() == [first.name, second.name].sorted())
        for name in try names() {
            #expect(
                try scene.sandbox.read("Remote/\(name)") == scene.sandbox.read("Other/\(name)")
            )
        }
        let copies = try await folder().list().backups
        #expect(copies.map(\.id) == [second.id, first.id])
        #expect(copies.map(\.isPinned) == [true, false])
        #expect(copies[1].tags == ["a"] && copies[1].note == "first")
        #expect(try scene.leftovers() == ["Other"] + (isElsewhere ? ["staging"] : []))
        // They are the same ones, even where nobody remembers what is in the other folder.
        let again = try await copy(to: isElsewhere ? remote : nil)
        #expect(again.copied.isEmpty && again.items.allSatisfy(\.wasThere))
        #expect(try names().count == 2)
    }

    @Test("Copying copies the backups that a person names, each once")
    func named() async throws {
        let first = try await scene.backUp().backup
        try await scene.backUp(at: Scene.morning + 60)
        let outcome = try await copy([first.name, first.displayName])
        #expect(outcome.items.count == 1)
        #expect(try names() == [first.name])
        await #expect(throws: BackupFolderError.noBackup("x", address: scene.remote.address)) {
            try await copy(["x"])
        }
    }

    @Test("Copying takes the next number if the name is taken, or replaces that backup, or fails")
    func sameName() async throws {
        let mine = try await scene.backUp().backup
        try LocalFileSystem().remove(scene.remotePath.appending(mine.name))
        try scene.sandbox.write("another", to: "Other/\(mine.name)")
        let kept = try await scene.backUp().backup
        #expect(kept.name == mine.name)
        let failed = try await copy { $0.sameName = .fail }
        #expect(
            failed.failure as? BackupFolderError
                == .taken(mine.displayName, address: other.address)
        )
        #expect(try names() == [mine.name])

        let numbered = try await copy()
        #expect(numbered.copied.map { $0.copy?.displayName } == ["\(mine.displayName) (2)"])
        try LocalFileSystem().remove(other.path.appending("\(mine.displayName) (2) Stores.zip"))

        let replaced = try await copy { $0.sameName = .replace }
        #expect(replaced.copied.map { $0.replaced?.name } == [mine.name])
        #expect(try await folder().trashed().map(\.name) == [mine.name])
        #expect(
            try scene.sandbox.read("Other/\(mine.name)")
                == scene.sandbox.read("Remote/\(mine.name)")
        )
    }

    @Test("Copying replaces no pinned backup, and puts back what it cannot replace")
    func replacesNothing() async throws {
        let mine = try await scene.backUp().backup
        try scene.sandbox.write("another", to: "Other/\(mine.name)")
        _ = try await PinBackup(in: folder(), context: scene.context())
            .run(mine.name, isPinned: true, at: now)
        let outcome = try await copy { $0.sameName = .replace }
        #expect(outcome.failure as? BackupFolderError == .pinned(mine.displayName))
        #expect(try scene.sandbox.read("Other/\(mine.name)") == Array("another".utf8))

        _ = try await PinBackup(in: folder(), context: scene.context())
            .run(mine.name, isPinned: false, at: now)
        let failing = FailingMoves(folder: other, failsAt: mine.name)
        let second = try await copy(to: failing) { $0.sameName = .replace }
        #expect(second.failure is RemoteError)
        #expect(try scene.sandbox.read("Other/\(mine.name)") == Array("another".utf8))
        #expect(try await folder().trashed().isEmpty)
        #expect(try names().filter { $0 != ".grocerydude-trash" } == [mine.name])
    }

    @Test("Copying copies no damaged backup unless an option says so, and then marks it")
    func damaged() async throws {
        let bad = try await scene.backUp().backup
        let good = try await scene.backUp(at: Scene.morning + 60).backup
        try damage(bad.name, in: scene.remotePath)
        let outcome = try await copy()
        #expect(outcome.copied.map(\.backup.name) == [good.name])
        #expect(outcome.problems.map(\.path) == [bad.name])
        #expect(outcome.problems.map(\.kind) == [.notCopied])
        #expect(try names() == [good.name])

        let second = try await copy { $0.allowsDamage = true }
        #expect(second.copied.map(\.backup.name) == [bad.name] && second.problems.isEmpty)
        let copies = try await folder().list().backups
        #expect(copies.map { $0.noted != nil } == [false, true])
        // It is the same one, damaged here and there.
        _ = try await CheckBackups(
            in: scene.folder(log: log),
            options: .init(),
            context: scene.context()
        ).run(try await scene.folder(log: log).list().backups[1], at: now)
        #expect(try await copy { $0.allowsDamage = true }.copied.isEmpty)
    }

    @Test("Copying copies no increment whose base could not be copied")
    func increments() async throws {
        let life = try IncrementScene(seed: 37)
        let chain = try await life.makeChain(2)
        func copy() async throws -> CopyBackups.Outcome {
            try await CopyBackups(
                from: life.scene.folder(),
                to: folder(),
                options: .init(date: life.date),
                context: life.scene.context()
            ).run(nil)
        }
        let path = life.scene.remotePath.appending(chain[0].name)
        let whole = try File.contents(of: path, limit: 1 << 30)
        try damage(chain[0].name, in: life.scene.remotePath)
        let outcome = try await copy()
        #expect(outcome.copied.isEmpty && outcome.problems.count == 2)
        #expect(outcome.problems.last?.reason.contains("is built on") == true)
        #expect(try names().isEmpty)
        try Data(whole).write(to: URL(filePath: path.string))
        // The folder remembers the damage until a check finds none.
        let noted = try #require(try await life.scene.folder().list().backups.last)
        _ = try await CheckBackups(
            in: life.scene.folder(),
            options: .init(),
            context: life.scene.context()
        ).run(noted, at: life.date + 60)
        let again = try await copy()
        #expect(again.copied.map(\.backup.id) == chain.map(\.id), "\(again.problems)")
    }

    @Test("Copying takes along the damage that a check found, and not that of another copy")
    func knownDamage() async throws {
        let backup = try await scene.backUp().backup
        try Tool.check(
            "cp",
            [
                "-a", "\(scene.remotePath.appending(backup.name))",
                "\(scene.remotePath)/copy Stores.zip",
            ]
        )
        try damage(backup.name, in: scene.remotePath)
        let check = CheckBackups(
            in: scene.folder(log: log),
            options: .init(),
            context: scene.context()
        )
        for backup in try await scene.folder(log: log).list().backups {
            _ = try await check.run(backup, at: now)
        }
        let outcome = try await copy { $0.allowsDamage = true }
        // The damaged one is the same as the whole one that is there by then.
        #expect(outcome.copied.map(\.backup.name) == ["copy Stores.zip"])
        #expect(outcome.items.count == 2 && outcome.problems.isEmpty)
        #expect(try await folder().list().backups.map(\.damage) == [nil])
        try LocalFileSystem().remove(other.path.appending("copy Stores.zip"))
        try await copy([backup.name]) { $0.allowsDamage = true }
        #expect(try await folder().list().backups.map { $0.noted != nil } == [true])
    }

    @Test("Copying copies a good backup though the folder has a damaged one of the same identity")
    func repairs() async throws {
        let backup = try await scene.backUp().backup
        try await copy()
        try damage(backup.name, in: other.path)
        let check = try CheckBackups(in: folder(), options: .init(), context: scene.context())
        for backup in try await folder().list().backups { _ = try await check.run(backup, at: now) }
        let outcome = try await copy()
        #expect(outcome.copied.map { $0.copy?.displayName } == ["\(backup.displayName) (2)"])
        let copies = try await folder().list().backups
        #expect(copies.count == 2 && copies.filter { $0.damage == nil }.count == 1)
    }

    @Test("Copying removes a copy that it reads back changed")
    func readBack() async throws {
        try await scene.backUp()
        let outcome = try await copy(
            to: Elsewhere(folder: ChangingFolder(folder: other), isFetching: true)
        )
        #expect(outcome.failure.map(explain)?.contains("differs when it is read back") == true)
        #expect(try names().isEmpty)
        #expect(try scene.leftovers() == ["Other", "staging"])
    }

    @Test("Copying stops if a folder becomes unreachable, and reports each backup that is left")
    func unreachable() async throws {
        for minute in 0..<3 { try await scene.backUp(at: Scene.morning + 60 * Double(minute)) }
        let outcome = try await copy(to: FailingMoves(folder: other, failsAt: nil, after: 1))
        #expect(outcome.copied.count == 1 && outcome.items.count == 3)
        #expect(outcome.problems.count == 2 && outcome.failure == nil)
        #expect(outcome.problems[1].reason.contains("not tried"))
    }

    @Test("Copying ends on a cancellation, and leaves nothing half done")
    func cancelled() async throws {
        try await scene.backUp()
        for count in 0..<3 {
            await #expect(throws: CancellationError.self, "\(count)") {
                try await copy(context: scene.context(cancellingAfter: count))
            }
            #expect(try names().isEmpty)
        }
    }

    @Test("Copying from a folder to itself, by whatever path, or to a missing folder, is refused")
    func refuses() async throws {
        try await scene.backUp()
        try scene.sandbox.link("Linked", to: "Remote")
        let linked = LocalFolder(scene.sandbox.path("Linked"))
        for target in [scene.remote, linked] {
            await #expect(throws: MovingError.self) {
                try await CopyBackups(
                    from: scene.folder(log: log),
                    to: BackupFolder(
                        target,
                        memory: BackupMemory(catalog: scene.catalog),
                        timeZone: Scene.utc
                    ),
                    options: .init(date: now),
                    context: scene.context()
                ).run(nil)
            }
        }
        try LocalFileSystem().remove(other.path)
        await #expect(throws: RemoteError.missing(other.address)) { try await copy() }
    }

    @Test("Copying locks both folders in one order, whatever its direction")
    func lockOrder() async throws {
        let locks = [
            try await FileLock.acquire(scene.remotePath), try await FileLock.acquire(other.path),
        ]
        defer { withExtendedLifetime(locks) {} }
        var paths: [FilePath] = []
        let folders = try [scene.folder(log: log), folder()]
        for (source, target) in [(folders[0], folders[1]), (folders[1], folders[0])] {
            do {
                _ = try await CopyBackups(
                    from: source,
                    to: target,
                    options: .init(date: now),
                    context: scene.context()
                ).run(nil)
            } catch FileError.locked(let path, _) {
                paths.append(path)
            }
        }
        #expect(paths.count == 2 && paths.first == paths.last)
    }

    @Test("Copying removes the leftovers of a killed copy")
    func leftover() async throws {
        try await scene.backUp()
        try scene.sandbox.write("half", to: "Other/.grocerydude-1.partial")
        try await copy()
        #expect(try names().count == 1)
    }
}

/// A folder that changes a byte of what it is given.
private struct ChangingFolder: RemoteFolder {
    let folder: any RemoteFolder

    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        var bytes = try File.contents(of: file, limit: 1 << 30)
        if name.hasPrefix(PartialName.prefix) { bytes[bytes.count / 2] ^= 1 }
        try LocalFileSystem().write(bytes, to: file)
        return try await folder.upload(file, as: name)
    }

    var description: String { folder.description }
    func list() async throws -> [RemoteFile] { try await folder.list() }
    func download(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try await folder.download(name, range: range)
    }
    func download(_ name: String, to path: FilePath) async throws {
        try await folder.download(name, to: path)
    }
    func move(_ name: String, to folder: any RemoteFolder, as newName: String) async throws {
        try await self.folder.move(name, to: self.folder, as: newName)
    }
    func delete(_ name: String) async throws { try await folder.delete(name) }
    func subfolder(_ name: String) -> any RemoteFolder { folder.subfolder(name) }
}

/// A folder that cannot be reached when a file is to get its name.
private struct FailingMoves: RemoteFolder {
    let folder: any RemoteFolder
    /// The name at which it fails; `nil` for every name.
    var failsAt: String?
    /// How many files it has when it begins to fail.
    var after = 0

    func move(_ name: String, to folder: any RemoteFolder, as newName: String) async throws {
        let count = try await list().count { $0.name.hasSuffix(BackupName.suffix) }
        let target = (folder as? FailingMoves)?.folder ?? folder
        if failsAt == nil ? count >= after : newName == failsAt && name.hasSuffix(".partial") {
            throw RemoteError.rclone(address, reason: "gone")
        }
        try await self.folder.move(name, to: target, as: newName)
    }

    var description: String { folder.description }
    func list() async throws -> [RemoteFile] {
        try await folder.list().map { RemoteFile(name: $0.name, size: $0.size) }
    }
    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        try await folder.upload(file, as: name)
    }
    func download(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try await folder.download(name, range: range)
    }
    func download(_ name: String, to path: FilePath) async throws {
        try await folder.download(name, to: path)
    }
    func delete(_ name: String) async throws { try await folder.delete(name) }
    func subfolder(_ name: String) -> any RemoteFolder {
        FailingMoves(folder: folder.subfolder(name), failsAt: failsAt, after: after)
    }
}
