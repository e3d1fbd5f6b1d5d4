internal import Files
internal import Stores

extension Store {
    /// Looks for processes that use one of the stores.
    ///
    /// - Parameters:
    ///   - stores: any files that SQLite might have open.
    ///   - failed: called where that cannot be told of one; what it throws ends the search.
    /// - Throws: `OperationError.storesInUse`.
    static func refuseIfInUse(
        _ stores: [Store],
        failed: (FileError) throws -> Void = { throw $0 }
    ) throws {
        for store in stores {
            do {
                let users = try store.users()
                if !users.isEmpty {
                    throw OperationError.storesInUse(store: store.path.description, by: users)
                }
            } catch let error as FileError {
                try failed(error)
            }
        }
        let file = LockHolder.processes(using: Set(stores.map(\.identity))).first?.file
        guard let file, let store = stores.first(where: { $0.identity == file }) else { return }
        // All of this one, whatever else they have open.
        let users = LockHolder.processes(using: [file]).map(\.holder)
        guard !users.isEmpty else { return }
        throw OperationError.storesInUse(store: store.path.description, by: users)
    }
}
