internal import Files
public import Stores

/// A place with stores to read: a backup, or the stores directory.
public protocol StorePlace {
    /// The name of the place, for messages.
    var name: String { get }

    /// Returns the printable paths of the stores.
    func stores() throws -> [String]

    /// Opens a store for reading in place.
    ///
    /// - Parameter path: the store's path, as `stores` returns it; `nil` for the only store.
    /// - Returns: the store; it does not change while it is referenced.
    /// - Throws: `LookingError` if there is no such store, or if there are several and `path` is `nil`; errors reading
    ///   the store.
    func store(_ path: String?) throws -> StoreSnapshot
}

extension StorePlace {
    /// Runs `body` on a separate thread, on which it may wait for data to be fetched.
    ///
    /// - Parameter body: reads the place.
    /// - Returns: the result of `body`.
    /// - Throws: errors of `body`; `LookingError.damaged` in place of errors about damage.
    public func look<Result>(_ body: @escaping (Self) throws -> Result) async throws -> Result {
        try await WorkThread.run { try LookingError.translating { try body(self) } }
    }
}
