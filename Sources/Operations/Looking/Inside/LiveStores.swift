internal import Files
public import Stores
public import SystemPackage

/// The stores directory as a place to read stores, like a backup; nothing in it is changed.
public struct LiveStores: StorePlace {
    private let path: FilePath
    private let context: OperationContext

    /// The time to wait for a writer that blocks readers.
    private static let busyTimeout = Duration.seconds(5)

    /// Creates a place for a stores directory.
    public init(_ path: FilePath, context: OperationContext) {
        self.path = path
        self.context = context
    }

    public var name: String { "'\(printable(path))'" }

    public func stores() throws -> [String] { try survey().stores.map(\.path.description) }

    public func store(_ path: String?) throws -> StoreSnapshot {
        let stores = try storesByPath()
        let names = stores.keys.sorted().map(\.text)
        let wanted =
            try path.map { StoreChoice.named($0, among: names) ?? $0 }
            ?? StoreChoice.only(of: names, in: name)
        return try store(wanted, of: stores)
    }

    /// Returns all stores by path, with a single pass over the directory.
    ///
    /// - Throws: `OperationError.noStores`, `FileError`, `CancellationError`.
    func storesByPath(_ survey: StoresDirectory.Survey? = nil) throws -> [ExactString: Store] {
        let stores = try (survey ?? self.survey()).stores
        return Dictionary(stores.map { ($0.path.description.exact, $0) }) { first, _ in first }
    }

    /// Opens one of the stores found; see `store`.
    func store(_ path: String, of stores: [ExactString: Store]) throws -> StoreSnapshot {
        guard let store = stores[path.exact] else {
            throw LookingError.noStore(path, in: name, stores: stores.keys.sorted().map(\.text))
        }
        return try StoreSnapshot.ofNow(
            store,
            scratchParent: context.scratch,
            busyTimeout: Self.busyTimeout
        )
    }

    /// Looks for the stores.
    func survey() throws -> StoresDirectory.Survey {
        try StoresDirectory(existing: path).survey(isCancelled: context.checkCancellation)
    }
}
