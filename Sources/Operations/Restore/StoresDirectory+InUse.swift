internal import Files
internal import Stores

extension Store {
    /// Throws `RestoreError.storesInUse` if a process uses one of the stores, which may be any files that SQLite might
    /// have open.
    ///
    /// Calls `failed` if that cannot be determined for one of them.
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
        // List all users of this store, whatever else they have open.
        let users = LockHolder.processes(using: [file]).map(\.holder)
        guard !users.isEmpty else { return }
        throw RestoreError.storesInUse(store: store.path.description, by: users)
    }
}

extension StoresDirectory {
    /// Throws `RestoreError.storesInUse` if a process has any file in the directory, or in a part of it, open.
    ///
    /// A damaged store may not even look like one.
    func refuseIfAnyFileIsInUse(of part: RestoredPart? = nil) throws {
        func pass(_ error: any Error) throws {
            // Only the system's list of open files covers a file that this program may not read.
            guard error.isPermissionDenied else { throw error }
        }
        var files: [Store] = []
        try Directory.open(path).walk(failed: { try pass($1) }) { file in
            if file.path.parent == nil, leavesOut(file.name, file.info) { return .skip }
            guard file.info.kind == .file else { return .descend }
            guard part?.contains(file.path) ?? true else { return .skip }
            files.append(Store(path: file.path, directory: path, identity: file.info.identity))
            return .descend
        }
        try Store.refuseIfInUse(files) { error in
            if !error.isMissing { try pass(error) }
        }
    }
}
