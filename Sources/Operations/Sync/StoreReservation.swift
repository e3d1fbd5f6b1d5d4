internal import Files
internal import Stores
internal import Synchronization

/// The right to write to a store, which may be refused for now.
final class StoreReservation: Sendable {
    private enum Refusal {
        case open([LockHolder])
        case locked(LockHolder?)
    }

    private let store: Store
    private let writesWhileOpen: Bool?
    private let context: OperationContext
    private let refusal = Mutex<Refusal?>(nil)

    init(_ store: Store, _ writesWhileOpen: Bool?, _ context: OperationContext) {
        self.store = store
        self.writesWhileOpen = writesWhileOpen
        self.context = context
    }

    /// Locks the stores directory, as backups and restores do.
    ///
    /// - Returns: the lock; `nil` if an application has the store open, or if another run has locked the directory.
    func make() async throws -> FileLock? {
        let mayBeOpen =
            try writesWhileOpen
            ?? !store.withSnapshot(context) { try $0.schema().isCoreData }
        if !mayBeOpen {
            do {
                // An idle connection in a rollback mode holds no lock; only the system's list of open files shows it.
                try Store.refuseIfInUse([store])
            } catch RestoreError.storesInUse(_, let users) {
                refusal.withLock { $0 = .open(users) }
                return nil
            }
        }
        do {
            return try await context.lock(on: store.directory)
        } catch FileError.locked(_, let holder) {
            refusal.withLock { $0 = .locked(holder) }
            return nil
        }
    }

    /// Returns the reason for a refusal; `nil` if there was none.
    func reason(rows: Int64) -> SyncError? {
        switch refusal.withLock({ $0 }) {
        case .open(let users): .openStore(store.path.description, rows: rows, by: users)
        case .locked(let holder): .lockedStores(store.directory, rows: rows, by: holder)
        case nil: nil
        }
    }
}
