internal import Files
public import Stores
public import SystemPackage

/// The stores directory, which is looked into as a backup is; nothing in it is changed.
public struct LiveStores: StorePlace {
    private let path: FilePath
    private let context: OperationContext

    /// How long to wait for a writer that lets nobody read.
    private static let busyTimeout = Duration.seconds(5)

    /// Names the directory.
    public init(_ path: FilePath, context: OperationContext) {
        self.path = path
        self.context = context
    }

    public var name: String { "'\(printable(path))'" }

    public func stores() throws -> [String] { try survey().map(\.path.description) }

    public func store(_ path: String?) throws -> StoreSnapshot {
        let stores = try survey()
        let names = stores.map(\.path.description)
        let wanted = try path ?? StoreChoice.only(of: names, in: name)
        guard let store = stores.first(where: { $0.path.description == wanted }) else {
            throw LookingError.noStore(wanted, in: name, stores: names)
        }
        return try StoreSnapshot.ofNow(
            store,
            scratchParent: context.scratch,
            busyTimeout: Self.busyTimeout
        )
    }

    private func survey() throws -> [Store] {
        let directory: StoresDirectory
        do {
            directory = try StoresDirectory(path)
        } catch let error as FileError where error.isMissing {
            throw OperationError.noStores(path)
        }
        return try directory.survey(isCancelled: context.checkCancellation).stores
    }
}
