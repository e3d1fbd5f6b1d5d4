internal import Foundation
public import SystemPackage

/// A lock on a directory that keeps other runs out until it is released (flock(2)).
///
/// The kernel holds the lock, so a killed run leaves nothing behind, and nothing is written. The lock belongs to the
/// directory, not to its name: after an exchange of names it moves with the directory.
///
/// Every user who may read a directory can take such a lock, and keep it. So a run first takes an `OwnLock`, if it has
/// a file for it, and then ignores the locks of strangers.
public final class FileLock: Sendable {
    let directory: Directory
    private let own: OwnLock?
    /// The strangers whose locks on the directory were ignored.
    public let strangers: [LockHolder]

    private init(holding directory: Directory, _ own: OwnLock?, _ strangers: [LockHolder]) {
        self.directory = directory
        self.own = own
        self.strangers = strangers
    }

    deinit {
        // Closing alone is not enough: until a child becomes another program, it has copies of all descriptors, which
        // would keep the lock.
        flock(directory.descriptor, LOCK_UN)
    }

    /// Returns whether this is the lock of the directory at a path.
    ///
    /// - Throws: `FileError` if the directory does not exist.
    public func isHeld(on path: FilePath) throws -> Bool {
        try Directory.open(path).info().identity == directory.info().identity
    }

    /// Holds the lock while `body` runs; see `acquire(_:own:wait:waiting:)`.
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

    /// Takes the lock, and retries for the time `wait`.
    ///
    /// - Parameters:
    ///   - path: the directory.
    ///   - own: the user's own file of locks, created if it is missing.
    ///   - wait: the time to wait for another run; zero tries once.
    ///   - waiting: called with the holder before each wait; throws to stop the waiting.
    /// - Returns: the lock, which is held until its last reference is released.
    /// - Throws: `FileError.locked` with the holder; other `FileError`s if the directory cannot be opened or locked;
    ///   what `waiting` throws; `CancellationError`.
    public static func acquire(
        _ path: FilePath,
        own: FilePath? = nil,
        wait: Duration = .zero,
        waiting: (LockHolder?) throws -> Void = { _ in }
    ) async throws -> FileLock {
        let start = ContinuousClock.now
        while true {
            let holder: LockHolder?
            switch try attempt(path, own) {
            case .taken(let lock): return lock
            case .refused(let other): holder = other
            }
            guard ContinuousClock.now - start < wait else {
                throw FileError.locked(path, holder: holder)
            }
            try waiting(holder)
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private enum Attempt {
        case taken(FileLock)
        /// Another run has the lock; the system may not name it.
        case refused(by: LockHolder?)
    }

    private static func attempt(_ path: FilePath, _ file: FilePath?) throws -> Attempt {
        let directory = try Directory.open(path)
        let info = try directory.info()
        var own: OwnLock?
        var strangers: [LockHolder] = []
        switch file.map({ OwnLock.attempt(in: $0, for: info.identity) }) ?? .impossible {
        case .taken(let lock): own = lock
        case .refused: return .refused(by: LockHolder.ours(of: info))
        case .impossible: break
        }
        if try !directory.lock() {
            strangers = LockHolder.all(of: info.identity)
            let ours = LockHolder.ours(of: info)
            guard own != nil, !strangers.isEmpty, ours == nil else {
                return .refused(by: ours ?? strangers.first)
            }
            if try directory.lock() {
                strangers = []
            } else if strangers != LockHolder.all(of: info.identity) {
                // A run that has just ended has no user, and neither has a hidden stranger.
                return .refused(by: nil)
            }
        }
        let lock = FileLock(holding: directory, own, strangers)
        // Meanwhile, a restore may have replaced the directory.
        return try lock.isHeld(on: path) ? .taken(lock) : .refused(by: nil)
    }
}

extension Directory {
    /// Locks the directory without waiting; returns whether it succeeded.
    fileprivate func lock() throws -> Bool {
        if uninterrupted({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 { return true }
        guard errno == EWOULDBLOCK else { throw lastError(.lock, path) }
        return false
    }
}
