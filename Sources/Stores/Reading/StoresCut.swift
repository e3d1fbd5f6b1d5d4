internal import Files
public import SystemPackage

/// Snapshots of several stores as of one moment.
public struct StoresCut {
    /// A store that could be opened, and its snapshot.
    public struct Member {
        public let store: Store
        public let snapshot: StoreSnapshot
    }

    /// A store that could not be read, and the reason.
    public struct Failure {
        public let store: Store
        public let error: any Error
    }

    /// The most times that a cut is made again because someone wrote in the middle of it.
    private static let roundsLimit = 2_000

    public private(set) var members: [Member] = []
    public private(set) var failures: [Failure] = []
    /// Whether there was one moment at which all snapshots were the stores' newest state.
    ///
    /// A writer may never pause; the snapshots are then within a millisecond or so of each other.
    public private(set) var isOneMoment = true

    /// Begins a read transaction on every store, and only then looks at any of them.
    ///
    /// - Parameters:
    ///   - stores: all of them; a file that has two names is opened once.
    ///   - scratchParent: where copies go of stores that must be recovered first.
    ///   - busyTimeout: how long to wait for each writer that lets nobody read.
    /// - Throws: `StoreError.busy`, with nothing held: waiting for one store while others are held
    ///   could make two processes wait for each other. Other errors are in `failures`.
    public init(of stores: [Store], scratchParent: FilePath, busyTimeout: Duration) throws {
        var transactions: [FileInfo.Identity: ReadTransaction] = [:]
        var opened: [(Store, ReadTransaction)] = []
        for store in stores {
            // To open and close a file again would drop the locks that we have on it.
            if let transaction = transactions[store.identity] {
                opened.append((store, transaction))
                continue
            }
            do {
                let transaction = try store.beginReading(
                    scratchParent: scratchParent,
                    busyTimeout: busyTimeout
                )
                transactions[store.identity] = transaction
                opened.append((store, transaction))
            } catch StoreError.busy(let name) {
                throw StoreError.busy(name)
            } catch {
                failures.append(Failure(store: store, error: error))
            }
        }
        isOneMoment = try Self.meet(Array(transactions.values))
        var snapshots: [FileInfo.Identity: StoreSnapshot] = [:]
        for (store, transaction) in opened {
            let snapshot = try snapshots[store.identity] ?? StoreSnapshot(transaction)
            snapshots[store.identity] = snapshot
            members.append(Member(store: store, snapshot: snapshot))
        }
    }

    /// Begins transactions anew until nobody wrote between the first and the last of them.
    private static func meet(_ transactions: [ReadTransaction]) throws -> Bool {
        guard transactions.count > 1 else { return true }
        for _ in 0..<roundsLimit {
            if try transactions.allSatisfy({ try $0.isCurrent() }) { return true }
            for transaction in transactions {
                guard try transaction.renew() else {
                    throw StoreError.busy(transaction.store.path.description)
                }
            }
        }
        return false
    }
}
