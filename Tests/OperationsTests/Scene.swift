import History
import Files
import Foundation
import Remotes
import Sample
import Synchronization
import SystemPackage
import TestSupport

@testable import Backups
@testable import Operations

/// A stores directory and a remote folder in a sandbox, and the operations on them.
final class Scene: Sendable {
    let sandbox: Sandbox
    let stores: FilePath
    let remotePath: FilePath
    /// 2026-11-21 09:01:00.123 UTC.
    static let morning = Date(timeIntervalSince1970: 1_795_251_660.123)
    static let utc = LocalZone.utc

    private let events = Mutex<[OperationEvent]>([])

    /// Makes it, with a store or not; its remote folder may be that of a scene of another machine.
    init(withStore: Bool = true, sharing shared: Scene? = nil) throws {
        sandbox = try Sandbox()
        stores = sandbox.path("Stores")
        remotePath = try shared?.remotePath ?? sandbox.directory("Remote")
        try sandbox.directory("Scratch")
        if withStore { _ = try GroceryStore.create(in: stores, withTestData: false) }
    }

    var remote: LocalFolder { LocalFolder(remotePath) }

    /// Returns the backup folder of a run that begins now; it learns nothing for later runs without a catalog.
    func folder(
        _ remote: (any RemoteFolder)? = nil,
        catalog: BackupCatalog? = nil,
        log: RunLog? = nil
    ) -> BackupFolder {
        BackupFolder(
            remote ?? self.remote,
            staging: remote?.directory ?? remotePath,
            memory: BackupMemory(catalog: catalog ?? self.catalog, log: log),
            timeZone: Self.utc
        )
    }

    /// Returns the backup that undoes the last restore of the stores directory.
    func newestSafety(now: Date) async throws -> Backup {
        try await ImpliedBackup.newestSafety(in: folder(), now: now) { _ in }.backup
    }

    var catalog: BackupCatalog { BackupCatalog(sandbox.path("Cache/catalog.json")) }

    /// The notes, warnings and problems that were reported, but for the one of every first backup here: that it
    /// is on the stores' own file system.
    var told: [String] { all.filter { !$0.contains("on the same file system") } }

    /// All notes, warnings and problems that were reported.
    var all: [String] {
        events.withLock { events in
            events.compactMap { event in
                switch event {
                case .note(let text): text
                case .warning(let text): "warning: \(text)"
                case .problem(let problem): problem.description
                default: nil
                }
            }
        }
    }

    /// The output of the user's commands.
    var said: [String] {
        events.withLock { events in
            events.compactMap { event in
                if case .said(let moment, let line) = event { "\(moment): \(line)" } else { nil }
            }
        }
    }

    /// The context of an operation.
    ///
    /// - Parameters:
    ///   - limit: how often work may ask whether to go on before it is stopped.
    ///   - lockWait: how long to wait for another run.
    ///   - meanwhile: called whenever work asks whether to go on: in the middle of everything.
    /// - Returns: a context that notes what is reported.
    func context(
        cancellingAfter limit: Int = .max,
        lockWait: Duration = .zero,
        meanwhile: @escaping @Sendable () throws -> Void = {}
    ) -> OperationContext {
        let calls = Counter()
        return OperationContext(
            report: { [self] event in events.withLock { $0.append(event) } },
            checkCancellation: {
                try meanwhile()
                if calls.next() > limit { throw CancellationError() }
            },
            threads: 2,
            lockWait: lockWait,
            scratch: sandbox.path("Scratch")
        )
    }

    func options(at date: Date = morning) -> CreateBackup.Options {
        CreateBackup.Options(date: date, tool: "grocerydude test")
    }

    @discardableResult
    func backUp(
        at date: Date = morning,
        to remote: (any RemoteFolder)? = nil,
        context: OperationContext? = nil
    ) async throws -> CreateBackup.Outcome {
        try await CreateBackup(
            of: stores,
            to: folder(remote),
            options: options(at: date),
            context: context ?? self.context()
        ).run()
    }

    func restoring(
        fileSystem: any FileSystem = LocalFileSystem(),
        context: OperationContext? = nil,
        catalog: BackupCatalog? = nil,
        _ change: (inout RestoreBackup.Options) -> Void = { _ in }
    ) -> RestoreBackup {
        var options = RestoreBackup.Options(backup: options(at: Self.morning + 3600))
        change(&options)
        return RestoreBackup(
            from: folder(catalog: catalog),
            options: options,
            context: context ?? self.context(),
            fileSystem: fileSystem
        )
    }

    @discardableResult
    func restore(
        _ name: String = "latest",
        fileSystem: any FileSystem = LocalFileSystem(),
        _ change: (inout RestoreBackup.Options) -> Void = { _ in }
    ) async throws -> RestoreBackup.Outcome {
        let catalog = catalog
        let restore = restoring(fileSystem: fileSystem, catalog: catalog, change)
        let outcome: RestoreBackup.Outcome
        do {
            outcome = try await restore.run(
                try await folder(catalog: catalog).find(name, now: Self.morning + 3600),
                to: stores
            )
        } catch {
            try await catalog.save()
            throw error
        }
        try await catalog.save()
        return outcome
    }

    /// Recovers, as the next command does.
    func recover() async throws {
        try await RecoverRestore(of: stores, context: context()).run()
    }

    func list() async throws -> [Backup] {
        try await folder().list().backups
    }

    /// The names in the sandbox that a run left and should not have.
    func leftovers() throws -> [String] {
        let expected: Set = ["Stores", "Remote", "Scratch", "Cache"]
        let beside = try Directory.open(sandbox.path).names().map(\.description)
        let partial = try Directory.open(remotePath).names().map(\.description).filter {
            $0.hasPrefix(".") && $0 != Annotations.subfolder
        }
        let scratch = try Directory.open(sandbox.path("Scratch")).names().map(\.description)
        return beside.filter { !expected.contains($0) } + partial + scratch
    }

    func itemNames() throws -> [String] {
        try GroceryStore(in: stores).items().map(\.name)
    }

    /// The bytes of a store with a rollback journal that its application has closed.
    func closedStore() throws -> [UInt8] {
        let path = sandbox.path("Cache.sqlite")
        try StoreApplication(on: path, "CREATE TABLE t (x)").end()
        defer { try? LocalFileSystem().remove(path) }
        return try sandbox.read("Cache.sqlite")
    }
}

/// Counts calls from any thread.
final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

/// A lock of another run's, which it lets go once it has done something.
final class HeldLock: Sendable {
    private let lock: Mutex<FileLock?>

    init(_ lock: FileLock) { self.lock = Mutex(lock) }

    /// Does it, and lets go; nothing if that was done.
    func release(after body: () throws -> Void) rethrows {
        try lock.withLock { lock in
            guard lock != nil else { return }
            try body()
            lock = nil
        }
    }
}

extension RestoreBackup {
    /// Plans a restore and runs it, as a command does that asks nothing.
    func run(_ backup: Backup, to stores: FilePath) async throws -> Outcome {
        try await run(plan(backup, to: stores))
    }
}
