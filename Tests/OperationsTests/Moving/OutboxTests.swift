import Files
import Foundation
import History
import Remotes
import Sample
import SystemPackage
import TestSupport
import Testing

@testable import Backups
@testable import Operations

@Suite("Backups that wait for their folder")
struct OutboxTests {
    private let scene: Scene
    private var now: Date { Scene.morning + 3600 }

    init() throws {
        scene = try Scene()
    }

    private func folder(
        _ remote: (any RemoteFolder)? = nil,
        catalog: BackupCatalog? = nil,
        limit: Outbox.Limit = .init()
    ) -> BackupFolder {
        var folder = scene.folder(remote, catalog: catalog)
        folder.outbox = Outbox(
            scene.sandbox.path("Cache/outbox"),
            limit: limit,
            memory: folder.memory,
            timeZone: Scene.utc
        )
        return folder
    }

    @discardableResult
    private func backUp(
        to folder: BackupFolder? = nil,
        at date: Date = Scene.morning,
        queues: Bool = true,
        _ change: (inout CreateBackup.Options) -> Void = { _ in }
    ) async throws -> CreateBackup.Outcome {
        var options = scene.options(at: date)
        options.queues = queues
        change(&options)
        return try await CreateBackup(
            of: scene.stores,
            to: folder ?? self.folder(),
            options: options,
            context: scene.context()
        ).run()
    }

    private func upload(to folder: BackupFolder? = nil) async throws -> UploadBackups.Outcome {
        try await UploadBackups(to: folder ?? self.folder(), context: scene.context()).run(at: now)
    }

    private func waiting() async throws -> [Backup] { try await folder().outbox?.waiting() ?? [] }

    /// Takes the remote folder away while `body` runs, as a disk that is unplugged.
    private func away<Result>(_ body: () async throws -> Result) async throws -> Result {
        let elsewhere = scene.sandbox.path("Cache/away")
        try scene.sandbox.directory("Cache")
        try LocalFileSystem().move(scene.remotePath, to: elsewhere)
        let result = try await body()
        try LocalFileSystem().move(elsewhere, to: scene.remotePath)
        return result
    }

    private func damage(_ backup: Backup) throws {
        let path = try #require(backup.file.location)
        var bytes = try File.contents(of: path, limit: 1 << 30)
        // One byte may be one that no decoder looks at.
        for index in bytes.count / 3..<bytes.count / 3 + 64 { bytes[index] ^= 0xFF }
        try LocalFileSystem().write(bytes, to: path)
    }

    @Test("Waiting backups are sent with their tags and notes, oldest first, and none is left")
    func comesAlong() async throws {
        try await away {
            let first = try await backUp {
                $0.tags = ["a"]
                $0.note = "first"
            }
            #expect(first.backup.isWaiting && first.waitsFor is RemoteError)
            #expect(try await backUp(at: Scene.morning + 60).backup.isWaiting)
            await #expect(throws: RemoteError.self) { try await upload() }
        }
        let ids = try await waiting().map(\.id)
        let outcome = try await upload()
        #expect(outcome.items.map(\.backup.id) == ids.reversed())
        #expect(outcome.left == 0 && outcome.problems.isEmpty)
        let backups = try await scene.list()
        #expect(backups.map(\.id) == ids)
        #expect(backups.map(\.tags) == [[], ["a"]] && backups[1].note == "first")
        #expect(backups.allSatisfy { !$0.isWaiting })
        #expect(try await waiting().isEmpty)
        #expect(try await upload().items.isEmpty)
        #expect(try scene.leftovers().isEmpty)
    }

    @Test("A backup is sent at once if the folder is reachable, after those that waited")
    func atOnce() async throws {
        let old = try await away { try await backUp().backup }
        let outcome = try await backUp(at: Scene.morning + 60)
        #expect(outcome.waitsFor == nil && !outcome.backup.isWaiting)
        #expect(try await scene.list().map(\.id) == [outcome.backup.id, old.id])
        #expect(try await waiting().isEmpty)
    }

    @Test("A backup that does not wait itself sends the waiting ones")
    func plain() async throws {
        let old = try await away { try await backUp().backup }
        let new = try await backUp(queues: false).backup
        #expect(try await Set(scene.list().map(\.id)) == [old.id, new.id])
        #expect(new.displayName == "\(old.displayName) (2)")
    }

    @Test("A waiting backup whose transfer is cut is not made again, since the stores may be gone")
    func cut() async throws {
        let cut = CutFolder(folder: scene.remote)
        var target = folder(cut)
        target = BackupFolder(
            cut,
            staging: try scene.sandbox.directory("Scratch/staging"),
            memory: target.memory,
            timeZone: Scene.utc
        )
        target.outbox = folder().outbox
        let outcome = try await backUp(to: target)
        #expect(outcome.backup.isWaiting && outcome.waitsFor is RemoteError)
        try LocalFileSystem().remove(scene.stores)
        #expect(try await upload().items.map(\.backup.id) == [outcome.backup.id])
    }

    @Test("A backup waits if a mounted folder's server is away, and not if its disk fails")
    func mounted() async throws {
        func folder(_ errno: Errno) -> BackupFolder {
            self.folder(AwayFolder(error: .failed(.list, scene.remotePath, errno)))
        }
        #expect(try await backUp(to: folder(.staleNFSFileHandle)).backup.isWaiting)
        await #expect(throws: FileError.self) { try await backUp(to: folder(.ioError)) }
        #expect(try await folder(.hostIsDown).listWithWaiting().unreachable != nil)
        await #expect(throws: FileError.self) { try await folder(.ioError).listWithWaiting() }
        #expect(try await waiting().count == 1)
    }

    @Test(
        "A waiting backup that the folder refuses is a problem, and is not lost",
        arguments: [false, true]
    )
    func refused(isLocked: Bool) async throws {
        var lock: FileLock?
        defer { withExtendedLifetime(lock) {} }
        try scene.sandbox.write("damaged", to: "Remote/\(Annotations.subfolder)/1.json")
        let outcome = try await backUp { $0.tags = ["a"] }
        #expect(outcome.problems.map(\.kind) == [.notCopied] && outcome.backup.isWaiting)
        #expect(try await waiting().count == 1)
        #expect(try await scene.list().isEmpty)
        var few = Outbox.Limit()
        few.backups = 1
        await #expect(throws: OutboxError.self) { try await backUp(to: folder(limit: few)) }
        if isLocked {
            lock = try await FileLock.acquire(scene.remotePath)
            // With something waiting, nothing is made that would be newer.
            await #expect(throws: FileError.self) { try await backUp() }
            #expect(try await waiting().count == 1)
        }
    }

    @Test(
        "A waiting backup is not sent twice, even if no record says that it was sent",
        arguments: [false, true]
    )
    func once(isElsewhere: Bool) async throws {
        let backup = try await away { try await backUp().backup }
        // As a run leaves it that is killed when it has sent the archive, under another name here.
        let path = try #require(backup.file.location)
        try File.open(path).copy(to: scene.remotePath.appending("b Stores.zip"), syncing: false)
        let remote = Elsewhere(folder: scene.remote, isFetching: true)
        var target = folder(isElsewhere ? remote : nil)
        if isElsewhere {
            target = BackupFolder(
                remote,
                staging: try scene.sandbox.directory("Scratch/staging"),
                memory: target.memory,
                timeZone: Scene.utc
            )
            target.outbox = folder().outbox
        }
        #expect(try await target.listWithWaiting().listing.backups.count == (isElsewhere ? 2 : 1))
        let outcome = try await upload(to: target)
        #expect(outcome.items.map(\.wasThere) == [true])
        #expect(try await scene.list().map(\.name) == ["b Stores.zip"])
        #expect(try await waiting().isEmpty)
    }

    @Test("A waiting increment keeps what it is built on from being deleted, pruned or thrown away")
    func needs() async throws {
        let life = try IncrementScene(seed: 31)
        let scene = life.scene
        let chain = try await life.makeChain(2)
        let (base, increment) = (chain[0], chain[1])
        var folder = scene.folder()
        let outbox = try scene.sandbox.directory("Cache/outbox")
        folder.outbox = Outbox(
            outbox,
            limit: .init(),
            memory: folder.memory,
            timeZone: Scene.utc
        )
        let path = scene.remotePath.appending(increment.name)
        try LocalFileSystem().move(path, to: outbox.appending(increment.name))
        #expect(try await folder.outbox?.waiting().map(\.isIncrement) == [true])
        let delete = DeleteBackup(from: folder, context: scene.context())
        for withDependants in [false, true] {
            let error = await #expect(throws: BackupFolderError.self) {
                try await delete.run(
                    base,
                    at: life.date,
                    keepingTrash: .zero,
                    withDependants: withDependants
                )
            }
            #expect(error.map(explain)?.contains("waits to be sent") == true)
        }
        let there = try await folder.list().backups
        let needs = try await Dependence(in: folder, among: there, goneForGood: false)
        #expect(needs.knownDependants(of: there[0]).map(\.id) == [increment.id])
        // A base that another machine deleted makes the sent increment a problem.
        try LocalFileSystem().remove(scene.remotePath.appending(base.name))
        let sent = try await UploadBackups(to: folder, context: scene.context())
            .run(at: life.date + 120)
        #expect(sent.items.count == 1 && sent.problems.count == 1)
        #expect(sent.problems.first?.reason.contains("is built on") == true)
    }

    @Test("A backup that may not be on the folder's disk goes on waiting")
    func unsynced() async throws {
        _ = try await away { try await backUp() }
        let faulty = FaultyFileSystem(failing: .callOf(.sync, 1))
        let remote = LocalFolder(scene.remotePath, fileSystem: faulty)
        let outcome = try await upload(to: folder(remote))
        try faulty.assertFaultWasMet()
        #expect(outcome.problems.map(\.kind) == [.notSynced] && outcome.left == 1)
        let again = try await upload()
        #expect(again.items.map(\.wasThere) == [true] && again.left == 0)
        #expect(try await scene.list().count == 1)
    }

    @Test("A damaged waiting backup is not sent, and does not keep others from being sent")
    func damaged() async throws {
        let (bad, good) = try await away {
            (try await backUp().backup, try await backUp(at: Scene.morning + 60).backup)
        }
        try damage(bad)
        let outcome = try await upload()
        #expect(outcome.items.map(\.backup.id) == [good.id] && outcome.left == 1)
        #expect(outcome.problems.map(\.path) == [bad.name])
        #expect(outcome.failure is MovingError)
        // A check notes it beside the archive, and not in the folder.
        let check = CheckBackups(in: folder(), options: .init(), context: scene.context())
        let backups = try await check.all().backups
        _ = try await check.run(try #require(backups.first { $0.isWaiting }), at: now)
        #expect(try await waiting().map { $0.noted != nil } == [true])
        #expect(!scene.sandbox.exists("Remote/\(Annotations.subfolder)"))
    }

    @Test("The outbox refuses backups beyond its limits of number and size, and loses none")
    func limit() async throws {
        var few = Outbox.Limit()
        few.backups = 1
        var small = Outbox.Limit()
        small.bytes = 100
        try await away {
            let error = await #expect(throws: OutboxError.self) {
                try await backUp(to: folder(limit: small))
            }
            #expect(error.map(explain)?.contains("no remote folder") == true)
            #expect(try await waiting().isEmpty)
            try await backUp(to: folder(limit: few))
            await #expect(throws: OutboxError.self) { try await backUp(to: folder(limit: few)) }
            #expect(try await waiting().count == 1)
            let files = try Directory.open(scene.sandbox.path("Cache/outbox")).names()
            #expect(files.allSatisfy { !PartialName.matches($0.description) })
        }
        #expect(try await backUp(to: folder(limit: small)).waitsFor == nil)
        #expect(try await scene.list().count == 2)
    }

    @Test("A waiting backup is compared with the folder's newest, as far as that is remembered")
    func anomaly() async throws {
        let catalog = scene.catalog
        let store = scene.stores.appending("app.db")
        try StoreApplication(
            on: store,
            """
            CREATE TABLE t (x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
            WHERE i < 100) INSERT INTO t SELECT i FROM n
            """
        ).end()
        try await backUp(to: folder(catalog: catalog), queues: false)
        try StoreApplication(on: store, "DELETE FROM t WHERE x > 9").end()
        let outcome = try await away { try await backUp(to: folder(catalog: catalog)) }
        #expect(outcome.backup.isAnomalous)
        // Nor does it take a name that is remembered.
        #expect(outcome.backup.displayName == "[2026-Nov-21] 09.01 AM (2)")
        // The next one is compared with what that was compared with, wherever it is.
        #expect(try await backUp(to: folder(catalog: catalog)).backup.isAnomalous)
    }

    @Test("An unchanged directory with a waiting backup gets no other one")
    func unchanged() async throws {
        let first = try await away {
            let first = try await backUp()
            let second = try await backUp(at: now) {
                $0.skipsUnchanged = true
                $0.tags = ["later"]
            }
            #expect(second.isUnchanged && second.isAnnotated)
            #expect(second.backup.id == first.backup.id)
            return first
        }
        #expect(try await backUp(at: now) { $0.skipsUnchanged = true }.isUnchanged)
        let backups = try await scene.list()
        #expect(backups.map(\.id) == [first.backup.id] && backups[0].tags == ["later"])
    }

    @Test("A waiting backup can be found, shown and restored, and the status does not count it")
    func found() async throws {
        let old = try await backUp(at: Scene.morning - 60, queues: false).backup
        let (backup, safety) = try await away {
            let backup = try await backUp().backup
            let (found, unreachable) = try await folder().findWithWaiting("latest", now: now)
            #expect(found.id == backup.id && unreachable != nil)
            let shown = try await ShowBackup(in: folder(), context: scene.context()).run("latest")
            #expect(shown.backup.id == backup.id)
            var options = RestoreBackup.Options(backup: scene.options(at: now))
            options.backup.queues = true
            let outcome = try await RestoreBackup(
                from: folder(),
                options: options,
                context: scene.context()
            ).run(found, to: scene.stores)
            #expect(outcome.safetyBackup?.isWaiting == true)
            #expect(try await waiting().map(\.isSafety) == [true, false])
            let status = await ShowStatus(of: scene.stores, in: folder(), now: now).run()
            #expect(status.waiting.count == 2 && status.newest == nil)
            await #expect(throws: RemoteError.self) {
                try await folder().findWithWaiting("nothing")
            }
            return (backup, outcome.safetyBackup)
        }
        let listing = try await folder().listWithWaiting()
        #expect(listing.unreachable == nil)
        #expect(listing.listing.backups.map(\.id) == [safety?.id, backup.id, old.id])
        #expect(listing.listing.backups.map(\.isWaiting) == [true, true, false])
        let status = await ShowStatus(of: scene.stores, in: folder(), now: now).run()
        #expect(status.backups == 1 && status.newest?.id == old.id)
    }

    @Test("A waiting backup can be pinned and keeps its pin, and once deleted it is gone for good")
    func pinned() async throws {
        let (first, second) = try await away {
            let backups = (
                try await backUp().backup, try await backUp(at: Scene.morning + 60).backup
            )
            let pin = PinBackup(in: folder(), context: scene.context())
            #expect(try await pin.run(backups.0.name, isPinned: true, at: now).backup.isWaiting)
            await #expect(throws: RemoteError.self) {
                try await pin.run("nothing", isPinned: true, at: now)
            }
            return backups
        }
        let delete = DeleteBackup(from: folder(), context: scene.context())
        let (found, _) = try await folder().findWithWaiting(second.name)
        try await delete.run(found, at: now, keepingTrash: .seconds(60))
        #expect(try await waiting().map(\.id) == [first.id])
        #expect(try await upload().items.count == 1)
        #expect(try await scene.list().map(\.isPinned) == [true])
    }

    @Test("A waiting safety backup is a safety backup in its folder too, even if unopened there")
    func safety() async throws {
        _ = try await away {
            try await backUp {
                $0.reason = "before restore of 'x'"
                $0.isBeforeRestore = true
            }
        }
        #expect(try await upload().items.count == 1)
        // A machine that knows nothing of it.
        let remote = Elsewhere(folder: scene.remote, isFetching: true)
        let folder = BackupFolder(
            remote,
            staging: try scene.sandbox.directory("Scratch/staging"),
            memory: BackupMemory(catalog: BackupCatalog(scene.sandbox.path("Cache/other.json"))),
            timeZone: Scene.utc
        )
        #expect(try await folder.list().backups.map(\.isSafety) == [true])
    }

    @Test("The name of a waiting backup is ambiguous if the folder has another of that name")
    func ambiguous() async throws {
        let backup = try await away { try await backUp().backup }
        try await scene.backUp()
        await #expect(throws: BackupFolderError.self) {
            try await folder().findWithWaiting(backup.name)
        }
    }

    @Test("A backup cannot wait inside the directory that it saves")
    func inside() async throws {
        try scene.sandbox.directory("Stores/outbox")
        var target = folder()
        target.outbox = Outbox(
            scene.stores.appending("outbox"),
            limit: .init(),
            memory: target.memory,
            timeZone: Scene.utc
        )
        await #expect(throws: OperationError.self) { try await backUp(to: target) }
    }
}

/// A folder whose uploads are cut.
struct CutFolder: RemoteFolder {
    let folder: any RemoteFolder

    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile {
        throw RemoteError.rclone(address, reason: "the connection was reset")
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
        try await self.folder.move(name, to: folder, as: newName)
    }
    func delete(_ name: String) async throws { try await folder.delete(name) }
    func subfolder(_ name: String) -> any RemoteFolder { folder.subfolder(name) }
}

/// A folder that can do nothing.
private struct AwayFolder: RemoteFolder {
    let error: FileError

    var description: String { "away" }
    func list() async throws -> [RemoteFile] { throw error }
    func upload(_ file: FilePath, as name: String) async throws -> RemoteFile { throw error }
    func download(_ name: String, to path: FilePath) async throws { throw error }
    func download(_ name: String, range: Range<Int64>) async throws -> [UInt8] { throw error }
    func move(_ name: String, to folder: any RemoteFolder, as newName: String) async throws {
        throw error
    }
    func delete(_ name: String) async throws { throw error }
    func subfolder(_ name: String) -> any RemoteFolder { self }
}
