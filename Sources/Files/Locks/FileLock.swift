public import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A lock on a directory that keeps other runs out until it is released (flock(2)).
///
/// The kernel holds it, so a run that was killed leaves nothing behind, and no file is written. It
/// belongs to the directory, not to its name: after an exchange of names it is where the directory went.
public final class FileLock: Sendable {
    let directory: Directory

    private init(holding directory: Directory) {
        self.directory = directory
    }

    deinit {
        // Not by closing alone: a child has copies of all descriptors until it becomes another program,
        // and they would keep the lock.
        flock(directory.descriptor, LOCK_UN)
    }

    /// Returns whether this is the lock of a directory, by whatever path.
    ///
    /// - Throws: `FileError` if there is no such directory.
    public func isHeld(on path: FilePath) throws -> Bool {
        try Directory.open(path).info().identity == directory.info().identity
    }

    /// Holds the lock while `body` runs; see `acquire(_:wait:waiting:)`.
    ///
    /// - Throws: what `acquire` throws, and what `body` throws.
    public static func withLock<Result>(
        on path: FilePath,
        wait: Duration = .zero,
        waiting: (LockHolder?) throws -> Void = { _ in },
        _ body: () async throws -> Result
    ) async throws -> Result {
        let lock = try await acquire(path, wait: wait, waiting: waiting)
        defer { withExtendedLifetime(lock) {} }
        return try await body()
    }

    /// Takes the lock, trying again until `wait` is over.
    ///
    /// - Parameters:
    ///   - path: the directory.
    ///   - wait: how long to wait for another run; zero tries once.
    ///   - waiting: called with the holder before each wait; what it throws ends the waiting.
    /// - Returns: the lock, which is held until its last reference goes.
    /// - Throws: `FileError.locked` naming the holder; other `FileError`s if the directory cannot
    ///   be opened or locked; what `waiting` throws; `CancellationError`.
    public static func acquire(
        _ path: FilePath,
        wait: Duration = .zero,
        waiting: (LockHolder?) throws -> Void = { _ in }
    ) async throws -> FileLock {
        let start = ContinuousClock.now
        while true {
            if let lock = try attempt(path) { return lock }
            let holder = try LockHolder.of(path)
            guard ContinuousClock.now - start < wait else {
                throw FileError.locked(path, holder: holder)
            }
            try waiting(holder)
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Tries once; `nil` if another run has it.
    private static func attempt(_ path: FilePath) throws -> FileLock? {
        let directory = try Directory.open(path)
        guard uninterrupted({ flock(directory.descriptor, LOCK_EX | LOCK_NB) }) == 0 else {
            if errno == EWOULDBLOCK { return nil }
            throw lastError(.lock, path)
        }
        let lock = FileLock(holding: directory)
        // While we waited, a restore may have put another directory in its place.
        return try lock.isHeld(on: path) ? lock : nil
    }
}
