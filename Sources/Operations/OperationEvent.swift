public import Files
internal import Remotes
public import SystemPackage

/// What an operation tells while it runs.
public enum OperationEvent: Sendable {
    /// The stages of work that takes long.
    public enum Stage: String, Sendable {
        case reading, uploading, fetching, extracting, checking, verifying
    }

    /// A stage begins, with the bytes it will go through where that is known.
    case began(Stage, total: Int64?)
    /// Bytes that were gone through since the last time.
    case advanced(Int64)
    /// Something worth knowing that is no problem.
    case note(String)
    /// Something that went wrong beside the work, and does not change its result.
    case warning(String)
    /// Something that makes the result partial.
    case problem(Problem)
    /// A line that a command of the user's wrote, and the moment that it runs at.
    case said(by: String, String)
    /// Waiting for another run.
    case waiting(for: LockHolder?)

    /// What a restore replaced could not be removed, and is kept where it is in nobody's way.
    static func leftover(_ path: FilePath) -> OperationEvent {
        .note("what was replaced could not be removed: it is in '\(printable(path))'")
    }
}

/// Something that a backup could not do as it should; the rest of it is good.
public struct Problem: Sendable, Equatable, Codable, CustomStringConvertible {
    /// The kinds of problem; an archive of a newer version may have others.
    public struct Kind: RawRepresentable, Codable, Sendable, Equatable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A file that never held still: what is in the archive may be two states mixed.
        public static let neverStill = Kind(rawValue: "never_still")
        /// A file that could not be read, and is not in the archive.
        public static let unreadable = Kind(rawValue: "unreadable")
        /// A store that SQLite finds damaged: its bytes are in the archive as they are.
        public static let damagedStore = Kind(rawValue: "damaged_store")
        /// A backup that should have been removed and could not be.
        public static let notRemoved = Kind(rawValue: "not_removed")
        /// A file of external data that a store refers to and that is not there.
        public static let missingExternalData = Kind(rawValue: "missing_external_data")
        /// The stores have much less than in the backup before.
        public static let anomaly = Kind(rawValue: "anomaly")
        /// What was done with a file is not known to be on the disk: a loss of power may undo it.
        public static let notSynced = Kind(rawValue: "not_synced")
    }

    public var kind: Kind
    /// The path below the stores directory, printable.
    public var path: String
    public var reason: String

    public init(kind: Kind, path: String, reason: String) {
        self.kind = kind
        self.path = path
        self.reason = reason
    }

    public var description: String {
        switch kind {
        case .anomaly: reason
        case .notSynced: "what became of '\(path)' may not outlast a loss of power: \(reason)"
        default: "'\(path)': \(reason)"
        }
    }
}

extension RemoteError {
    /// What is to be told of what was done all the same; `nil` for what was not done.
    var problem: Problem? {
        guard case .notSynced(_, let name, let error) = self else { return nil }
        return Problem(kind: .notSynced, path: name, reason: error.description)
    }

    /// Does something in a remote folder.
    ///
    /// - Returns: what is to be told of what was done, though a loss of power may undo it.
    /// - Throws: `RemoteError` where it was not done.
    static func problem(of body: () async throws -> Void) async throws -> Problem? {
        do {
            try await body()
            return nil
        } catch let error as RemoteError {
            guard let problem = error.problem else { throw error }
            return problem
        }
    }
}

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

    /// Locks a remote folder; of one that is not there, the folder's own error says so.
    func lock(_ remote: any RemoteFolder) async throws -> FileLock {
        do {
            return try await lock(remote.staging)
        } catch let error as FileError {
            if case .locked = error { throw error }
            _ = try await remote.list()
            throw error
        }
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
