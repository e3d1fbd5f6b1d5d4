internal import Backups
internal import Files
internal import Remotes
public import SystemPackage

/// The world around an operation, as every operation is given it.
public struct OperationContext: Sendable {
    /// Receives events, on the thread of the operation.
    public var report: @Sendable (OperationEvent) -> Void
    /// Throws `CancellationError` once the user wants to stop; called often.
    public var checkCancellation: @Sendable () throws -> Void
    /// How many threads compress, and restore.
    public var threads: Int
    /// How long to wait for another run.
    public var lockWait: Duration
    /// Where scratch copies may be made.
    public var scratch: FilePath

    public init(
        report: @escaping @Sendable (OperationEvent) -> Void = { _ in },
        checkCancellation: @escaping @Sendable () throws -> Void = {},
        threads: Int,
        lockWait: Duration = .zero,
        scratch: FilePath
    ) {
        self.report = report
        self.checkCancellation = checkCancellation
        self.threads = threads
        self.lockWait = lockWait
        self.scratch = scratch
    }

    /// Runs `body` while a folder of backups is locked; throws `RemoteError.missing` if there is none.
    func withLock<Result>(
        _ folder: BackupFolder,
        _ body: () async throws -> Result
    ) async throws -> Result {
        if (try? Directory.open(folder.staging)) == nil { _ = try await folder.remote.list() }
        return try await withLock(on: folder.staging, body)
    }

    /// Runs `body` while a directory is locked, if one is given; tells once whom it waits for.
    func withLock<Result>(
        on path: FilePath?,
        _ body: () async throws -> Result
    ) async throws -> Result {
        guard let path else { return try await body() }
        let lock = try await lock(on: path)
        defer { withExtendedLifetime(lock) {} }
        return try await body()
    }

    /// Locks a directory until the last reference to the lock goes; tells once whom it waits for.
    func lock(on path: FilePath) async throws -> FileLock {
        var wasReported = false
        return try await FileLock.acquire(path, wait: lockWait) { holder in
            try checkCancellation()
            if !wasReported { report(.waiting(for: holder)) }
            wasReported = true
        }
    }

    func note(_ text: String) { report(.note(text)) }

    func tellDetail(_ text: String) { report(.detail(text)) }

    func warn(_ text: String) { report(.warning(text)) }

    /// Says where something is that a restore replaced and could not remove, if there is such a thing.
    func noteLeftover(_ path: FilePath?) {
        guard let path else { return }
        note("what was replaced could not be removed: it is in '\(printable(path))'")
    }

    func tell(_ problems: [Problem]) {
        for problem in problems { report(.problem(problem)) }
    }
}
