internal import Files
internal import Stores

extension Store {
    /// Looks for processes that use one of the stores.
    ///
    /// - Parameters:
    ///   - stores: any files that SQLite might have open.
    ///   - failed: called if that cannot be told of one; what it throws ends the search.
    /// - Throws: `RestoreError.storesInUse`.
    static func refuseIfInUse(
        _ stores: [Store],
        failed: (FileError) throws -> Void = { throw $0 }
    ) throws {
        for store in stores {
            do {
                let users = try store.users()
                if !users.isEmpty {
                    throw RestoreError.storesInUse(store: store.path.description, by: users)
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
        throw RestoreError.storesInUse(store: store.path.description, by: users)
    }
}

extension StoresDirectory {
    /// Looks for processes that have any file in the directory open: what is damaged may not even look
    /// like a store.
    ///
    /// - Throws: `RestoreError.storesInUse`; `FileError` if that cannot be told.
    func refuseIfAnyFileIsInUse() throws {
        func pass(_ error: any Error) throws {
            // Of a file that we may not read, only the system's list can tell.
            guard error.isPermissionDenied else { throw error }
        }
        var files: [Store] = []
        try Directory.open(path).walk(failed: { try pass($1) }) { file in
            if file.path.parent == nil, leavesOut(file.name, file.info) { return .skip }
            guard file.info.kind == .file else { return .descend }
            files.append(Store(path: file.path, directory: path, identity: file.info.identity))
            return .descend
        }
        try Store.refuseIfInUse(files) { error in
            if !error.isMissing { try pass(error) }
        }
    }
}
