internal import CSQLite

/// A prepared statement that is finalized with its owner (https://www.sqlite.org/c3ref/stmt.html).
package final class Statement {
    package let pointer: OpaquePointer
    package let database: OpaquePointer
    private let failure: (_ code: CInt, _ message: String) -> any Error

    /// Returns whether the last statement failed since another row has a key or a unique value
    /// (https://www.sqlite.org/rescode.html).
    package static func isKeyTaken(in database: OpaquePointer) -> Bool {
        // These are SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID.
        [6, 8, 10].map { SQLITE_CONSTRAINT | $0 << 8 }.contains(sqlite3_extended_errcode(database))
    }

    /// Prepares the first statement of a text, for the store with a name in messages.
    package convenience init(_ database: OpaquePointer, name: String, _ sql: String) throws {
        try self.init(database, sql) { StoreError(name, code: $0, message: $1) }
    }

    /// Prepares the first statement of a text, and throws what `failure` makes of SQLite's code and message.
    package init(
        _ database: OpaquePointer,
        _ sql: String,
        failure: @escaping (_ code: CInt, _ message: String) -> any Error
    ) throws {
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v2(database, sql, -1, &pointer, nil)
        guard code == SQLITE_OK, let pointer else {
            throw failure(code, String(cString: sqlite3_errmsg(database)))
        }
        self.pointer = pointer
        self.database = database
        self.failure = failure
    }

    deinit { sqlite3_finalize(pointer) }

    /// Advances to the next row.
    ///
    /// - Returns: `false` if there is none.
    package func step() throws -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw error(code)
        }
    }

    /// Returns the error of the call that just failed.
    func error(_ code: CInt) -> any Error {
        failure(code, String(cString: sqlite3_errmsg(database)))
    }

    package func reset() { sqlite3_reset(pointer) }

    /// Runs the statement to its end, with values for its parameters in order.
    func run(_ values: [StoredValue] = []) throws {
        try bind(values)
        defer { reset() }
        while try step() {}
    }

    /// Binds values to parameters in order, from a place on.
    package func bind(_ values: [StoredValue], from place: Int = 1) throws {
        for (index, value) in values.enumerated() {
            try bind(value, at: CInt(place + index))
        }
    }

    package func bind(_ value: Int64, at place: CInt) throws {
        let code = sqlite3_bind_int64(pointer, place, value)
        guard code == SQLITE_OK else { throw error(code) }
    }

    package func bind(_ text: String, at place: CInt) throws {
        // SQLITE_TRANSIENT: SQLite copies the text.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code = sqlite3_bind_text(pointer, place, text, -1, transient)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Binds a blob.
    package func bind(_ bytes: UnsafeRawBufferPointer, at place: CInt) throws {
        // SQLITE_TRANSIENT: SQLite copies the bytes. A null pointer would bind NULL instead of empty bytes.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code =
            bytes.isEmpty
            ? sqlite3_bind_zeroblob(pointer, place, 0)
            : sqlite3_bind_blob(pointer, place, bytes.baseAddress, CInt(bytes.count), transient)
        guard code == SQLITE_OK else { throw error(code) }
    }

    package func bindNull(at place: CInt) throws {
        let code = sqlite3_bind_null(pointer, place)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Binds a value with its storage class and its exact bytes.
    package func bind(_ value: StoredValue, at place: CInt) throws {
        // SQLITE_TRANSIENT: SQLite copies the bytes.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code: CInt
        switch value {
        case .null: return try bindNull(at: place)
        case .integer(let number): return try bind(number, at: place)
        case .real(let bits):
            code = sqlite3_bind_double(pointer, place, Double(bitPattern: bits))
        case .text(let bytes):
            code = bytes.withUnsafeBytes {
                let start = $0.baseAddress.map { $0.assumingMemoryBound(to: CChar.self) }
                return start == nil
                    ? sqlite3_bind_text(pointer, place, "", 0, transient)
                    : sqlite3_bind_text(pointer, place, start, CInt($0.count), transient)
            }
        case .blob(let bytes): return try bytes.withUnsafeBytes { try bind($0, at: place) }
        }
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Returns an integer, or the integer to which SQLite converts the value.
    package func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(pointer, column) }

    /// Returns a text; `nil` for NULL.
    package func text(_ column: CInt) -> String? {
        sqlite3_column_text(pointer, column).map { String(cString: $0) }
    }

    package func storageClass(_ column: CInt) -> StorageClass {
        Self.storageClass(of: pointer, column)
    }

    package func realBits(_ column: CInt) -> UInt64 {
        sqlite3_column_double(pointer, column).bitPattern
    }

    /// Returns the bytes of a text or a blob, valid until the next step.
    ///
    /// A text that is read as a blob is not converted (https://www.sqlite.org/c3ref/column_blob.html). In a store
    /// with UTF-16 it is UTF-8 all the same, since asking for its length converts it.
    package func unsafeBytes(_ column: CInt) -> UnsafeRawBufferPointer {
        Self.unsafeBytes(of: pointer, column)
    }

    /// Returns a copy of a value.
    package func value(_ column: CInt) -> StoredValue { Self.value(of: pointer, column) }

    /// Returns a copy of a value of a statement that has made a step.
    static func value(of pointer: OpaquePointer, _ column: CInt) -> StoredValue {
        switch storageClass(of: pointer, column) {
        case .null: .null
        case .integer: .integer(sqlite3_column_int64(pointer, column))
        case .real: .real(bits: sqlite3_column_double(pointer, column).bitPattern)
        case .text: .text(StoredBytes(unsafeBytes(of: pointer, column)))
        case .blob: .blob(StoredBytes(unsafeBytes(of: pointer, column)))
        }
    }

    private static func storageClass(of pointer: OpaquePointer, _ column: CInt) -> StorageClass {
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    private static func unsafeBytes(
        of pointer: OpaquePointer,
        _ column: CInt
    ) -> UnsafeRawBufferPointer {
        let count = sqlite3_column_bytes(pointer, column)
        let start = sqlite3_column_blob(pointer, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count))
    }
}

extension StoreError {
    /// Translates the error of the call that just failed.
    package init(_ name: String, code: CInt, of database: OpaquePointer) {
        self.init(name, code: code, message: String(cString: sqlite3_errmsg(database)))
    }
}
