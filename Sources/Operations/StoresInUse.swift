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
        let uses = LockHolder.processes(using: Set(stores.map(\.identity)))
        guard let file = uses.first?.file, let store = stores.first(where: { $0.identity == file })
        else { return }
        let users = uses.filter { $0.file == file }.map(\.holder)
        throw OperationError.storesInUse(store: store.path.description, by: users)
    }
}
