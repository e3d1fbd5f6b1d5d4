internal import Files
public import Stores

/// A place with stores that are looked into: a backup, or the stores directory.
public protocol StorePlace {
    /// The place in messages.
    var name: String { get }

    /// Returns the paths of the stores, printable.
    func stores() throws -> [String]

    /// Opens a store for reading, where it is.
    ///
    /// - Parameter path: its path, as `stores` says it; `nil` for the only one.
    /// - Returns: the store; it stays as it is while it is referred to.
    /// - Throws: `LookingError` if there is no such store, or more than one to choose from; errors of
    ///   reading it.
    func store(_ path: String?) throws -> StoreSnapshot
}

extension StorePlace {
    /// Runs `body` on a thread of its own, where it may wait for what is fetched.
    ///
    /// - Parameter body: looks into the place.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws; `LookingError.damaged` in place of an error that says so.
    public func look<Result>(_ body: @escaping (Self) throws -> Result) async throws -> Result {
        try await WorkThread.run { try LookingError.translating { try body(self) } }
    }
}
