internal import Files
public import SystemPackage

/// Snapshots of several stores as of one moment.
public struct StoresCut {
    /// A store that could be opened, with its snapshot.
    public struct Member {
        public let store: Store
        public let snapshot: StoreSnapshot
    }

    /// A store that could not be read, with the reason.
    public struct Failure {
        public let store: Store
        public let error: any Error
    }

    /// The greatest number of repetitions of a cut because a process wrote meanwhile.
    private static let roundsLimit = 2_000
    /// The greatest number of files that are open while one store is opened: itself, its log and index, and a copy.
    private static let filesOfStore = 8

    public private(set) var members: [Member] = []
    public private(set) var failures: [Failure] = []
    /// Whether there was one moment at which all snapshots were the newest states of their stores.
    ///
    /// Writers may never pause; the snapshots are then within about a millisecond of each other.
    public private(set) var isOneMoment = true

    /// Begins a read transaction on every store, and only then reads any of them.
    ///
    /// - Parameters:
    ///   - stores: all stores; a file with two names is opened once. If too few open files are left, further stores
    ///     are in `failures`.
    ///   - scratchParent: the directory for copies of stores that must be recovered first.
    ///   - busyTimeout: the longest wait for each writer that excludes readers.
    ///   - leavingOutBusy: whether a locked store goes into `failures`.
    /// - Throws: `StoreError.busy`, with nothing held: if it waited for one store while it held others, two
    ///   processes could wait for each other. Other errors are in `failures`.
    public init(
        of stores: [Store],
        scratchParent: FilePath,
        busyTimeout: Duration,
        leavingOutBusy: Bool = false
    ) throws {
        var opening = Opening(leavesOutBusy: leavingOutBusy)
        for store in stores where !opening.knows(store.identity) {
            // Opening and closing the same file again would drop this process's locks on it.
            try opening.attempt(store.identity) {
                guard OpenFiles.mayHold(Self.filesOfStore) else {
                    throw FileError.failed(.open, store.location, .tooManyOpenFiles)
                }
                return try store.beginReading(
                    scratchParent: scratchParent,
                    busyTimeout: busyTimeout
                )
            }.map { opening.transactions[store.identity] = $0 }
        }
        isOneMoment = try opening.meet(rounds: Self.roundsLimit)
        var snapshots: [FileInfo.Identity: StoreSnapshot] = [:]
        for store in stores {
            let identity = store.identity
            if snapshots[identity] == nil, let transaction = opening.transactions[identity] {
                snapshots[identity] = try opening.attempt(identity) {
                    try StoreSnapshot(transaction)
                }
            }
            if let snapshot = snapshots[identity] {
                members.append(Member(store: store, snapshot: snapshot))
            } else if let error = opening.errors[identity] {
                failures.append(Failure(store: store, error: error))
            }
        }
    }

    /// The transactions that have begun, and the errors of those that failed.
    private struct Opening {
        var transactions: [FileInfo.Identity: ReadTransaction] = [:]
        private(set) var errors: [FileInfo.Identity: any Error] = [:]
        private let leavesOutBusy: Bool

        init(leavesOutBusy: Bool) { self.leavesOutBusy = leavesOutBusy }

        func knows(_ identity: FileInfo.Identity) -> Bool {
            transactions[identity] != nil || errors[identity] != nil
        }

        /// Runs `body`; if it fails, drops the store.
        mutating func attempt<Result>(
            _ identity: FileInfo.Identity,
            _ body: () throws -> Result
        ) throws -> Result? {
            do {
                return try body()
            } catch {
                if case StoreError.busy = error, !leavesOutBusy { throw error }
                transactions[identity] = nil
                errors[identity] = error
                return nil
            }
        }

        /// Begins transactions again until no process has written between the first and the last of them.
        mutating func meet(rounds: Int) throws -> Bool {
            for _ in 0..<rounds {
                guard transactions.count > 1 else { return true }
                var isCurrent = true
                for (identity, transaction) in transactions where isCurrent {
                    isCurrent = try attempt(identity, transaction.isCurrent) ?? true
                }
                if isCurrent { return true }
                for (identity, transaction) in transactions {
                    try attempt(identity) {
                        guard try transaction.renew() else {
                            throw StoreError.busy(transaction.store.path.description)
                        }
                    }
                }
            }
            return false
        }
    }
}
