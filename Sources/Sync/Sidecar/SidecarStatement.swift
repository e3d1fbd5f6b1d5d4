internal import CSQLite
internal import Changes
internal import GRDB

/// A value for a parameter of a `SidecarStatement`.
enum SidecarValue {
    case null
    case integer(Int64)
    case id(RowID)
    case bytes([UInt8])
    case text(String)

    static func optional(_ bytes: [UInt8]?) -> SidecarValue { bytes.map { .bytes($0) } ?? .null }
    static func optional(_ number: Int64?) -> SidecarValue { number.map { .integer($0) } ?? .null }
    static func optional(_ id: RowID?) -> SidecarValue { id.map { .id($0) } ?? .null }
}

/// A prepared statement for work on each row.
///
/// GRDB creates an object for every value, which takes longer than SQLite's own work.
final class SidecarStatement {
    private let pointer: OpaquePointer
    private let database: OpaquePointer

    /// Prepares the first statement of a text.
    ///
    /// - Throws: `DatabaseError`.
    init(_ sql: StaticString, in database: OpaquePointer) throws {
        var pointer: OpaquePointer?
        let code = sql.withUTF8Buffer { text in
            text.withMemoryRebound(to: CChar.self) {
                sqlite3_prepare_v2(database, $0.baseAddress, CInt($0.count), &pointer, nil)
            }
        }
        guard code == SQLITE_OK, let pointer else { throw Self.error(of: database) }
        self.pointer = pointer
        self.database = database
    }

    deinit { sqlite3_finalize(pointer) }

    /// Begins the statement again, with values for its parameters in order.
    func begin(_ values: [SidecarValue]) throws {
        sqlite3_reset(pointer)
        // SQLITE_TRANSIENT: SQLite copies the bytes.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for index in values.indices {
            let place = CInt(index + 1)
            let code =
                switch values[index] {
                case .null: sqlite3_bind_null(pointer, place)
                case .integer(let number): sqlite3_bind_int64(pointer, place, number)
                case .id(let id):
                    id.withUnsafeBytes {
                        sqlite3_bind_blob(pointer, place, $0.baseAddress, CInt($0.count), transient)
                    }
                case .text(let text):
                    sqlite3_bind_text(pointer, place, text, -1, transient)
                case .bytes(let bytes):
                    bytes.withUnsafeBytes {
                        // An empty array has no address, and a null pointer would bind NULL.
                        $0.isEmpty
                            ? sqlite3_bind_zeroblob(pointer, place, 0)
                            : sqlite3_bind_blob(
                                pointer,
                                place,
                                $0.baseAddress,
                                CInt($0.count),
                                transient
                            )
                    }
                }
            guard code == SQLITE_OK else { throw Self.error(of: database) }
        }
    }

    /// Advances to the next row.
    ///
    /// - Returns: `false` if there is none.
    func step() throws -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw Self.error(of: database)
        }
    }

    /// Runs the statement to its end.
    func run(_ values: [SidecarValue]) throws {
        try begin(values)
        defer { reset() }
        while try step() {}
    }

    /// Resets the statement, so that it keeps no transaction open.
    func reset() { sqlite3_reset(pointer) }

    // MARK: - The current row

    func isNull(_ column: CInt) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }

    func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(pointer, column) }

    func optionalInteger(_ column: CInt) -> Int64? { isNull(column) ? nil : integer(column) }

    /// Returns an id; `nil` if the column contains none.
    func id(_ column: CInt) -> RowID? { withBytes(column) { RowID(bytes: $0) } }

    /// Returns a text; an empty one for NULL.
    func text(_ column: CInt) -> String {
        sqlite3_column_text(pointer, column).map { String(cString: $0) } ?? ""
    }

    /// Returns a copy of the bytes of a column; empty for NULL.
    func bytes(_ column: CInt) -> [UInt8] { withBytes(column) { Array($0) } }

    /// Passes the bytes of a column to a closure; no bytes for NULL.
    func withBytes<Result>(
        _ column: CInt,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let start = sqlite3_column_blob(pointer, column)
        let count = start == nil ? 0 : Int(sqlite3_column_bytes(pointer, column))
        return try body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Returns the error of the call that just failed.
    private static func error(of database: OpaquePointer) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(database)),
            message: String(cString: sqlite3_errmsg(database))
        )
    }
}

extension SidecarAccess {
    /// Runs a statement to its end.
    func perform(_ sql: StaticString, _ values: SidecarValue...) throws {
        try statement(sql).run(values)
    }

    /// Reads the first row of a query; returns `nil` if there is none.
    func first<Result>(
        _ sql: StaticString,
        _ values: SidecarValue...,
        read: (SidecarStatement) throws -> Result?
    ) throws -> Result? {
        let statement = try statement(sql)
        try statement.begin(values)
        defer { statement.reset() }
        return try statement.step() ? read(statement) : nil
    }

    /// Returns whether a query has a row.
    func has(_ sql: StaticString, _ values: SidecarValue...) throws -> Bool {
        let statement = try statement(sql)
        try statement.begin(values)
        defer { statement.reset() }
        return try statement.step()
    }

    /// Reads each row of a query, and returns the results without `nil`.
    func all<Result>(
        _ sql: StaticString,
        _ values: SidecarValue...,
        read: (SidecarStatement) throws -> Result?
    ) throws -> [Result] {
        let statement = try statement(sql)
        try statement.begin(values)
        defer { statement.reset() }
        var results: [Result] = []
        while try statement.step() {
            if let result = try read(statement) { results.append(result) }
        }
        return results
    }
}
