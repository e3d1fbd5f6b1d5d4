internal import CSQLite
internal import Files

/// A store that is open for reading, wherever its pages are: live, in an archive, or unpacked.
///
/// It shows one state as long as it is open. Only one thread at a time may use it.
public struct ReadableStore {
    /// The store's name in messages.
    public let name: String
    /// The store's pages; `nil` if only SQLite reads them.
    public let pages: (any StorePages)?

    let database: OpaquePointer
    /// The object that keeps the connection and its transaction open.
    let owner: AnyObject
    /// The snapshot, which knows the reason if bytes could not be read; SQLite does not.
    private let snapshot: StoreSnapshot?

    /// Takes a connection.
    ///
    /// - Parameters:
    ///   - database: the connection (`sqlite3 *`), in a transaction if others may write.
    ///   - name: the store's name in messages.
    ///   - owner: the object that closes the connection when its last reference ends.
    ///   - pages: the pages that the connection reads, if they are known.
    public init(
        _ database: OpaquePointer,
        name: String,
        owner: AnyObject,
        pages: (any StorePages)? = nil
    ) {
        snapshot = owner as? StoreSnapshot
        self.database = database
        self.name = name
        self.owner = owner
        self.pages = pages
        AbsentCollations.standIn(in: database)
    }

    /// Takes a snapshot, with its transaction.
    ///
    /// - Throws: `StoreError` if its connection is closed.
    public init(_ snapshot: StoreSnapshot) throws {
        try self.init(snapshot, name: snapshot.path.description)
    }

    /// Reads the schema.
    ///
    /// - Returns: all tables except SQLite's own.
    /// - Throws: `StoreError`.
    public func schema() throws -> StoreSchema {
        try snapshot?.connection.refuseUnparsedSchema()
        return try StoreSchema(of: database, name: name)
    }

    /// Makes SQLite read the schema, and throws if SQLite cannot interpret it.
    ///
    /// - Throws: `StoreError`; see `reading`.
    public func readSchema() throws {
        try snapshot?.connection.refuseUnparsedSchema()
        _ = try reading { try number("SELECT count(*) FROM main.sqlite_schema") }
    }

    /// Begins to read a table; see `TableCursor`.
    ///
    /// - Parameters:
    ///   - table: the table in the store's schema.
    ///   - columns: indices of the table's columns; all stored ones by default.
    ///   - order: the keys that determine the order.
    ///   - rowIDs: the rows to read, for a table with rowids in their order; all by default.
    /// - Returns: a cursor before the first row.
    /// - Throws: `StoreError`, also if the rows of this table have no accessible key.
    public func rows(
        of table: TableSchema,
        columns: [Int]? = nil,
        order: TableCursor.Order = .local,
        rowIDs: ClosedRange<Int64>? = nil
    ) throws -> TableCursor {
        try TableCursor(
            table,
            in: database,
            owner: owner,
            name: name,
            columns: columns,
            order: order,
            rowIDs: rowIDs
        )
    }

    /// Runs `body`, which reads the store.
    ///
    /// - Throws: any error of `body`; if bytes could not be read, the reason in place of SQLite's error.
    public func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try snapshot?.reading(body) ?? body()
    }

    /// Counts the rows of a table.
    ///
    /// - Throws: `StoreError`.
    public func count(of table: TableSchema) throws -> Int64 {
        try number("SELECT count(*) FROM main.\(table.name.sqlIdentifier)")
    }

    /// Runs `body`, whose long queries can be stopped (https://www.sqlite.org/c3ref/progress_handler.html).
    ///
    /// - Parameters:
    ///   - check: a closure that is called now and then, and throws to stop.
    ///   - body: a closure that runs queries.
    /// - Returns: the result of `body`.
    /// - Throws: the error of `check`, in place of the query's error; any error of `body`.
    public func interruptible<Result>(
        by check: @escaping () throws -> Void,
        _ body: () throws -> Result
    ) throws -> Result {
        try QueryWatch.watching(database, check, body)
    }

    /// Runs a query that returns one number.
    func number(_ sql: String) throws -> Int64 {
        let statement = try Statement(database, name: name, sql)
        return try statement.step() ? statement.integer(0) : 0
    }
}

/// The pages of a store in one state, read by their offsets.
public protocol StorePages {
    /// The length of a page in bytes.
    var pageSize: Int { get }
    /// The number of pages in the database.
    var pageCount: Int64 { get }

    /// Reads bytes of the database.
    ///
    /// - Parameters:
    ///   - buffer: the buffer to fill from its start, with room for whole pages or the rest of the database.
    ///   - offset: the offset of the first byte, at the beginning of a page.
    /// - Returns: the number of bytes; fewer than requested only at the end of the database.
    /// - Throws: an error if they cannot be read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int
}

extension StoreSnapshot: StorePages {}

extension ReadableStore {
    /// Creates an empty store in memory, as the state of a store that does not exist.
    ///
    /// - Throws: `StoreError` if SQLite has no memory for it.
    public static func empty() throws -> ReadableStore {
        let scratch = try ScratchDatabase(name: "nothing")
        return ReadableStore(scratch.handle, name: "nothing", owner: scratch)
    }

    /// Takes a snapshot, with its transaction, under another name.
    ///
    /// - Parameters:
    ///   - snapshot: the snapshot.
    ///   - name: the store's name in messages.
    /// - Throws: `StoreError` if its connection is closed.
    public init(_ snapshot: StoreSnapshot, name: String) throws {
        self.init(
            try snapshot.connection.handle(),
            name: name,
            owner: snapshot,
            pages: snapshot
        )
    }
}

/// Substitutes for collations that only the application has; SQLite may not even read a table without them.
///
/// The substitutes compare bytes. Rows are read in the order of their rowids or bytes, so that no result depends on
/// a substitute. Nothing is written on such a connection.
enum AbsentCollations {
    /// Registers a substitute for each collation that SQLite misses
    /// (https://www.sqlite.org/c3ref/collation_needed.html).
    static func standIn(in database: OpaquePointer) {
        sqlite3_collation_needed(database, nil) { _, database, _, name in
            let compare:
                @convention(c) (
                    UnsafeMutableRawPointer?, CInt, UnsafeRawPointer?, CInt, UnsafeRawPointer?
                ) -> CInt = { _, count, bytes, otherCount, other in
                    let left = UnsafeRawBufferPointer(start: bytes, count: Int(count))
                    let right = UnsafeRawBufferPointer(start: other, count: Int(otherCount))
                    return CInt(left.compare(with: right).signum())
                }
            sqlite3_create_collation_v2(database, name, SQLITE_UTF8, nil, compare, nil)
        }
    }
}
