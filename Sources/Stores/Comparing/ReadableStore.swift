internal import CSQLite
internal import Files

/// A store that is open for reading, wherever its pages are: live, in an archive, or unpacked.
///
/// It is of one state as long as it is open. One thread at a time uses it.
public struct ReadableStore {
    /// The store's name in messages.
    public let name: String
    /// The store's pages; `nil` if only SQLite reads them.
    public let pages: (any StorePages)?

    let database: OpaquePointer
    /// Keeps the connection open, and its transaction.
    let owner: AnyObject
    /// Knows why bytes could not be read, where SQLite only knows that they could not.
    private let snapshot: StoreSnapshot?

    /// Takes a connection.
    ///
    /// - Parameters:
    ///   - database: the connection (`sqlite3 *`), in a transaction if others may write.
    ///   - name: the store's name in messages.
    ///   - owner: closes the connection with its last reference.
    ///   - pages: the pages that the connection reads, if they can be told.
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
    /// - Returns: all tables but SQLite's own.
    /// - Throws: `StoreError`.
    public func schema() throws -> StoreSchema { try StoreSchema(of: database, name: name) }

    /// Has SQLite read the schema: a store whose schema it cannot make sense of fails here.
    ///
    /// - Throws: `StoreError`; see `reading`.
    public func readSchema() throws {
        _ = try reading { try number("SELECT count(*) FROM main.sqlite_schema") }
    }

    /// Begins to read a table; see `TableCursor`.
    ///
    /// - Parameters:
    ///   - table: as the store's schema has it.
    ///   - columns: places in the table's columns; all stored ones if not given.
    ///   - order: by which keys.
    ///   - rowIDs: only these rows, of a table with rowids in their order.
    /// - Returns: a cursor before the first row.
    /// - Throws: `StoreError`, also if rows of this table have no key that can be told.
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
    /// - Throws: what `body` throws; in place of SQLite's error that of the bytes that it could not read.
    public func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try snapshot?.reading(body) ?? body()
    }

    /// Counts the rows of a table.
    ///
    /// - Throws: `StoreError`.
    public func count(of table: TableSchema) throws -> Int64 {
        try number("SELECT count(*) FROM main.\(table.name.sqlIdentifier)")
    }

    /// Lets long queries in `body` be stopped (https://www.sqlite.org/c3ref/progress_handler.html).
    ///
    /// - Parameters:
    ///   - check: called now and then; throws to stop.
    ///   - body: runs queries.
    /// - Returns: what `body` returns.
    /// - Throws: what `check` throws, in place of what a query made of that; what `body` throws.
    public func interruptible<Result>(
        by check: @escaping () throws -> Void,
        _ body: () throws -> Result
    ) throws -> Result {
        try QueryWatch.watching(database, check, body)
    }

    /// Runs a query that gives one number.
    func number(_ sql: String) throws -> Int64 {
        let statement = try Statement(database, name: name, sql)
        return try statement.step() ? statement.integer(0) : 0
    }
}

/// The pages of a store in one state, read by their places.
public protocol StorePages {
    /// Bytes in a page.
    var pageSize: Int { get }
    /// Pages in the database.
    var pageCount: Int64 { get }

    /// Reads bytes of the database.
    ///
    /// - Parameters:
    ///   - buffer: filled from the start; whole pages, or the rest of the database.
    ///   - offset: the first byte; where a page begins.
    /// - Returns: the count of bytes, less than asked for only at the end of the database.
    /// - Throws: what keeps them from being read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int
}

extension StoreSnapshot: StorePages {}

extension ReadableStore {
    /// Makes an empty store, in memory: the state of one that is not there.
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
