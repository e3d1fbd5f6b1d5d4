internal import Backups
internal import Files
internal import Remotes
public import SystemPackage

/// The environment that every operation gets: the receiver of events, limits and scratch space.
public struct OperationContext: Sendable {
    /// The receiver of events, called on the thread of the operation.
    public var report: @Sendable (OperationEvent) -> Void
    /// A closure that throws `CancellationError` once the user wants to stop; called often.
    public var checkCancellation: @Sendable () throws -> Void
    /// The number of threads for compression and restores.
    public var threads: Int
    /// The time to wait for another run.
    public var lockWait: Duration
    /// The directory for scratch copies.
    public var scratch: FilePath
    /// Whether the receiver wants to know each entry that is extracted.
    public var reportsDetails = false
    /// The user's own lock file; without it, another user's lock on a directory blocks runs.
    public var locks: FilePath?
    /// The program's own directories, with the variables that name their places; none may be in a stores directory.
    public var ownDirectories: [(variable: String, path: FilePath)] = []

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

    /// Runs `body` while a backup folder is locked; throws `RemoteError.missing` if the folder is missing.
    func withLock<Result>(
        _ folder: BackupFolder,
        _ body: () async throws -> Result
    ) async throws -> Result {
        if (try? Directory.open(folder.staging)) == nil { _ = try await folder.remote.list() }
        return try await withLock(on: folder.staging, body)
    }

    /// Runs `body` while a directory is locked, if one is given; reports once which run it waits for.
    func withLock<Result>(
        on path: FilePath?,
        _ body: () async throws -> Result
    ) async throws -> Result {
        guard let path else { return try await body() }
        let lock = try await lock(on: path)
        defer { withExtendedLifetime(lock) {} }
        return try await body()
    }

    /// Locks a directory until the last reference to the lock is released; reports once which run it waits for.
    func lock(on path: FilePath) async throws -> FileLock {
        var wasReported = false
        let lock = try await FileLock.acquire(path, own: locks, wait: lockWait) { holder in
            try checkCancellation()
            if !wasReported { report(.waiting(for: holder)) }
            wasReported = true
        }
        for stranger in lock.strangers {
            warn(
                "'\(printable(path))' is locked by \(stranger) of a user who may not change it: the lock was ignored"
            )
        }
        return lock
    }

    public func note(_ text: String) { report(.note(text)) }

    func reportDetail(_ text: String) { report(.detail(text)) }

    public func warn(_ text: String) { report(.warning(text)) }

    /// Reports the path of replaced data that could not be removed, if there is any.
    func noteLeftover(_ path: FilePath?) {
        guard let path else { return }
        note("what was replaced could not be removed: it is in '\(printable(path))'")
    }

    /// Reports problems; of several missing files, only the first and the number of the others.
    func reportProblems(_ problems: [Problem]) {
        for problem in problems.summarized { report(.problem(problem)) }
    }

    /// Reports a problem, and adds it to those of an outcome.
    func note(
        _ kind: Problem.Kind,
        _ path: String,
        _ reason: String,
        in problems: inout [Problem]
    ) {
        let problem = Problem(kind: kind, path: path, reason: reason)
        report(.problem(problem))
        problems.append(problem)
    }
}
