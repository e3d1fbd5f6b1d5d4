internal import Backups
internal import Files
internal import Remotes
public import SystemPackage

/// What every operation is given of the world around it.
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

    /// Runs `body` while a folder of backups is locked.
    ///
    /// - Throws: `FileError.locked`; `RemoteError.missing` if the folder is not there; what `body` throws.
    func withLock<Result>(
        _ folder: BackupFolder,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let lock: FileLock
        do {
            lock = try await self.lock(folder.staging)
        } catch let error as FileError {
            if case .locked = error { throw error }
            _ = try await folder.remote.list()
            throw error
        }
        defer { withExtendedLifetime(lock) {} }
        return try await body()
    }

    func lock(_ path: FilePath) async throws -> FileLock {
        var wasReported = false
        return try await FileLock.acquire(path, wait: lockWait) { holder in
            try checkCancellation()
            if !wasReported { report(.waiting(for: holder)) }
            wasReported = true
        }
    }
}
