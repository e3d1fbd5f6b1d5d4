internal import Changes
internal import Files
public import Remotes
public import Stores
public import Sync
public import SystemPackage

/// The stores of a stores directory, with the places of their sidecars and the containers of their groups.
public struct SyncPlaces: Sendable {
    /// The stores directory, without symbolic links in its path.
    public let directory: FilePath
    /// The stores, in the order of their paths.
    public let stores: [Store]
    /// The stores that take part, but whose files are missing, unreadable or no longer stores.
    let gone: [Store]
    /// The directory of all sidecars.
    let sidecars: FilePath
    /// Returns the remote folder of an address.
    public let folder: @Sendable (String) throws -> any RemoteFolder
    let context: OperationContext

    /// Finds the stores of a directory.
    ///
    /// - Parameters:
    ///   - stores: the stores directory.
    ///   - sidecars: the directory of all sidecars of this user; it may be missing.
    ///   - context: the context of operations on the stores.
    ///   - folder: returns the remote folder of an address; by default there are no folders.
    /// - Throws: `OperationError.noStores`, `FileError`.
    public init(
        _ stores: FilePath,
        sidecars: FilePath,
        context: OperationContext,
        folder: @escaping @Sendable (String) throws -> any RemoteFolder = {
            throw SyncError.containerIsNoFolder($0)
        }
    ) throws {
        let directory = try StoresDirectory(existing: stores)
        let survey = try directory.survey(isCancelled: context.checkCancellation)
        self.directory = directory.path
        self.stores = survey.stores
        (self.sidecars, self.context, self.folder) = (sidecars, context, folder)
        gone = try Self.gone(from: directory.path, survey.stores, sidecars)
    }

    /// The directory for a store's sidecar.
    public func sidecar(of store: Store) -> FilePath {
        Sidecar.directory(for: store.location, in: sidecars)
    }

    /// Returns the stores that take part, or began to, including those that were not found.
    ///
    /// - Throws: `FileError`.
    public func enabled() throws -> [Store] {
        try stores.filter { try Sidecar.isThere(in: sidecar(of: $0)) } + gone
    }

    /// Returns the store with a name: its path, or its path without the extension.
    ///
    /// Without a name, returns the only store.
    ///
    /// - Throws: `SyncError.noStore`, `.noStores`, `.severalStores`.
    public func store(named name: String?) throws -> Store {
        guard let name else {
            guard let only = stores.first else { throw SyncError.noStores(directory) }
            guard stores.count == 1 else {
                throw SyncError.severalStores(stores.map(\.path.description), in: directory)
            }
            return only
        }
        let stores = stores + gone
        let found =
            stores.first { $0.path.description.exact == name.exact }
            ?? stores.first {
                $0.path.description.utf8.split(separator: UInt8(ascii: ".")).first
                    .map { $0.elementsEqual(name.utf8) } ?? false
            }
        guard let found else { throw SyncError.noStore(name, in: directory) }
        return found
    }

    /// Returns the enabled stores among the named ones, or all enabled stores if there are no names.
    ///
    /// - Throws: `SyncError`; `.notEnabled` if there is none.
    public func enabled(named names: [String]) throws -> [Store] {
        let enabled = try enabled()
        guard !names.isEmpty else {
            guard !enabled.isEmpty else { throw SyncError.notEnabled(directory.string) }
            return enabled
        }
        return try names.map { name in
            let store = try store(named: name)
            guard enabled.contains(store) else {
                throw SyncError.notEnabled(store.path.description)
            }
            return store
        }
    }

    /// Reads the recorded facts about a store's part in its group.
    ///
    /// - Throws: `SidecarError`, `FileError`.
    public func overview(of store: Store) throws -> SyncOverview {
        let directory = sidecar(of: store)
        guard try Sidecar.isThere(in: directory) else { return SyncOverview() }
        let sidecar = try Sidecar(in: directory)
        defer { try? sidecar.close() }
        return try SyncOverview(of: sidecar)
    }

    /// Calls a closure with a store's sidecar, which is locked meanwhile.
    ///
    /// - Throws: `SidecarError`, `FileError`; errors of `body`.
    func withSidecar<Result>(
        of store: Store,
        _ body: (Sidecar) async throws -> Result
    ) async throws -> Result {
        let directory = sidecar(of: store)
        return try await context.withLock(on: directory) {
            let sidecar = try Sidecar(in: directory)
            defer { try? sidecar.close() }
            return try await body(sidecar)
        }
    }

    /// Returns the container of a group.
    func container(of group: GroupName, at address: String) throws -> Container {
        Container(try folder(address), group: group, scratch: context.scratch)
    }
}
