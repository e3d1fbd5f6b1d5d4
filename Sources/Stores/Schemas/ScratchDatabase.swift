internal import CSQLite

/// A database in memory, for trials that must not touch a store.
final class ScratchDatabase {
    let handle: OpaquePointer
    private let name: String

    /// Opens an empty database.
    ///
    /// - Parameters:
    ///   - name: the store's name in messages.
    ///   - runsTriggers: see `distrust`.
    /// - Throws: `StoreError`.
    init(name: String, runsTriggers: Bool = false) throws {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(
            ":memory:",
            &handle,
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
            nil
        )
        guard code == SQLITE_OK, let handle else {
            sqlite3_close(handle)
            throw StoreError(name, code: code)
        }
        self.handle = handle
        self.name = name
        try distrust(handle, name: name, runsTriggers: runsTriggers)
    }

    deinit { sqlite3_close_v2(handle) }

    func prepare(_ sql: String) throws -> Statement { try Statement(handle, name: name, sql) }

    /// Runs the first statement of a text.
    func run(_ sql: String) throws {
        let statement = try prepare(sql)
        while try statement.step() {}
    }
}
