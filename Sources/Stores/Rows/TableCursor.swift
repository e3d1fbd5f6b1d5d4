internal import CSQLite
internal import Files

/// The rows of a table in the order of their keys, one at a time.
///
/// Bytes of a row are valid until the next row. In the order of rowids, values over `largeSize` are read in pieces,
/// so that memory does not grow with them. In other orders, and in stores with UTF-16, SQLite reads such values
/// whole. Only one thread at a time may use a cursor, or anything else on its connection.
public struct TableCursor: ~Copyable {
    /// The key that identifies rows and determines their order.
    public enum Order: Sendable {
        /// The rowid, or the primary key of a table without rowids.
        case local
        /// The primary key, if there is one; rows with equal keys (with NULL) come by rowid.
        case primaryKey
        /// All values that are read, for a table whose rows have no key, or no common key with another state.
        case content
        /// No key: rows come in the order of SQLite.
        case none
    }

    /// The greatest length in bytes of a value that is read at once: 64 KiB.
    public static let largeSize = 65_536

    public let table: TableSchema
    /// The indices, in the table's columns, of the columns that are read.
    public let columns: [Int]
    /// Whether keys are rowids.
    public let isByRowID: Bool
    /// The rowid of the row; 0 in a table without rowids.
    public private(set) var rowID: Int64 = 0

    private let statement: Statement
    /// The indices of the columns that sort the rows; empty if the rowid does.
    private let keyColumns: [Int]
    private let limits: ClosedRange<Int64>
    /// The greatest length in bytes of a value that the statement reads.
    ///
    /// It is unlimited for UTF-16, since pieces of a text would not be converted.
    private let lengthLimit: CInt
    private var encoding = KeyEncoding()
    /// The current row, if it has large values that the statement could not read.
    private var largeRow: LargeRow?
    private let name: String
    /// The object that keeps the connection open.
    private let owner: AnyObject?

    /// The number of columns before the requested ones: the rowid, and the key's columns if rows are not sorted by
    /// rowid.
    private var offset: CInt { CInt(1 + keyColumns.count) }

    /// Begins to read a table.
    ///
    /// - Parameters:
    ///   - table: the table in the schema of this connection.
    ///   - database: a connection (`sqlite3 *`), in a transaction if rows must be of one state.
    ///   - owner: an object that is kept as long as the cursor.
    ///   - name: the store's name in messages.
    ///   - columns: indices of the table's columns; all stored ones by default.
    ///   - order: the keys that determine the order.
    ///   - rowIDs: the rows to read, for a table with rowids in their order; all by default.
    /// - Throws: `StoreError`, also if the rows of this table have no accessible key.
    public init(
        _ table: TableSchema,
        in database: OpaquePointer,
        owner: AnyObject?,
        name: String,
        columns: [Int]? = nil,
        order: Order = .local,
        rowIDs: ClosedRange<Int64>? = nil
    ) throws {
        let columns = columns ?? table.storedColumns
        let isByRowID =
            !table.isWithoutRowID && [.local, .primaryKey].contains(order)
            && (order == .local || table.primaryKey.isEmpty)
        let keyColumns =
            switch order {
            case .none: [Int]()
            case .content: columns
            case .local, .primaryKey: isByRowID ? [] : table.primaryKey
            }
        let limits = rowIDs ?? .min ... .max
        let isUTF8 = try Self.isUTF8(database, name)
        guard isUTF8 || keyColumns.isEmpty else {
            // SQLite's order of texts in UTF-16 differs from the order of the same texts in UTF-8.
            let reason = "keys in UTF-16 cannot be read in their order"
            throw StoreError.unreadable(name, reason: reason)
        }
        let sql = try table.selection(
            columns,
            sortedBy: keyColumns,
            byRowID: isByRowID,
            needsKey: order == .local || order == .primaryKey,
            store: name
        )
        let statement = try Statement(database, name: name, sql)
        if isByRowID {
            try statement.bind(limits.lowerBound, at: 1)
            try statement.bind(limits.upperBound, at: 2)
        }
        self.table = table
        self.columns = columns
        self.isByRowID = isByRowID
        lengthLimit = isUTF8 ? CInt(Self.largeSize) : .max
        self.keyColumns = keyColumns
        self.limits = limits
        self.owner = owner
        self.name = name
        self.statement = statement
    }

    private static func isUTF8(_ database: OpaquePointer, _ name: String) throws -> Bool {
        let encoding = try Statement(database, name: name, "PRAGMA main.encoding")
        return try !encoding.step() || encoding.text(0) == "UTF-8"
    }

    /// Advances to the next row.
    ///
    /// - Returns: `false` if there is none; do not call it again in that case.
    /// - Throws: `StoreError`.
    public mutating func next() throws -> Bool {
        guard isByRowID else { return try nextByPrimaryKey() }
        var first = limits.lowerBound
        if largeRow != nil {
            largeRow = nil
            guard rowID < limits.upperBound else { return false }
            first = rowID + 1
            statement.reset()
            try statement.bind(first, at: 1)
        } else if hasStepped {
            first = rowID == .max ? .max : rowID + 1
        }
        hasStepped = true
        let limit = sqlite3_limit(statement.database, SQLITE_LIMIT_LENGTH, lengthLimit)
        let code = sqlite3_step(statement.pointer)
        sqlite3_limit(statement.database, SQLITE_LIMIT_LENGTH, limit)
        switch code {
        case SQLITE_ROW:
            rowID = statement.integer(0)
            return true
        case SQLITE_DONE: return false
        case SQLITE_TOOBIG:
            let row = try LargeRow(
                of: table,
                columns,
                in: statement.database,
                name: name,
                within: first...limits.upperBound
            )
            rowID = row.rowID
            largeRow = row
            return true
        default: throw statement.error(code)
        }
    }

    private var hasStepped = false

    private mutating func nextByPrimaryKey() throws -> Bool {
        guard try statement.step() else { return false }
        rowID = statement.integer(0)
        encoding.clear()
        for column in 1..<offset {
            switch statement.storageClass(column) {
            case .null: encoding.appendNull()
            case .integer: encoding.append(statement.integer(column))
            case .real: encoding.append(Double(bitPattern: statement.realBits(column)))
            case .text: encoding.append(statement.unsafeBytes(column), isText: true)
            case .blob: encoding.append(statement.unsafeBytes(column), isText: false)
            }
        }
        return true
    }

    // MARK: - The row

    /// The row's key.
    public var key: RowKey { isByRowID ? .rowID(rowID) : .primaryKey(encoding.bytes) }

    /// Compares the keys of two cursors' rows; the result is below 0 if this one comes first.
    func compareKey(with other: borrowing TableCursor) -> Int {
        if isByRowID { return rowID < other.rowID ? -1 : rowID == other.rowID ? 0 : 1 }
        return encoding.bytes.withUnsafeBytes { bytes in
            other.encoding.bytes.withUnsafeBytes { bytes.compare(with: $0) }
        }
    }

    /// Returns the storage class of a value; `index` counts in `columns`, here and below.
    public func storageClass(_ index: Int) -> StorageClass {
        if let largeRow { return largeRow.cells[index].storageClass }
        return statement.storageClass(offset + CInt(index))
    }

    /// Returns an integer; 0 if the value is no integer.
    public func integer(_ index: Int) -> Int64 {
        if let largeRow { return largeRow.cells[index].integer }
        return statement.integer(offset + CInt(index))
    }

    /// Returns the 64 bits of a number of class `real`.
    public func realBits(_ index: Int) -> UInt64 {
        if let largeRow { return UInt64(bitPattern: largeRow.cells[index].integer) }
        return statement.realBits(offset + CInt(index))
    }

    /// Returns the number of bytes of a text or a blob.
    public func byteCount(_ index: Int) -> Int64 {
        if let largeRow { return largeRow.cells[index].size }
        return Int64(statement.unsafeBytes(offset + CInt(index)).count)
    }

    /// Returns whether a text or a blob can be read only in pieces: see `largeValue`.
    public func isLarge(_ index: Int) -> Bool { largeRow?.cells[index].bytes == .large }

    /// Returns the bytes of a text or a blob, valid until the next row; empty for a value that `isLarge`.
    public func unsafeBytes(_ index: Int) -> UnsafeRawBufferPointer {
        if let largeRow { return largeRow.unsafeBytes(index) }
        return statement.unsafeBytes(offset + CInt(index))
    }

    /// Opens a text or a blob, to be read in pieces.
    ///
    /// - Throws: `StoreError`, also if the value is not large.
    public func largeValue(_ index: Int) throws -> LargeValue {
        try LargeValue(
            of: table,
            column: columns[index],
            rowID: rowID,
            in: statement.database,
            owner: owner,
            name: name
        )
    }

    /// Returns a copy of a value; reads a value that `isLarge` whole.
    public func value(_ index: Int) throws -> StoredValue {
        guard let largeRow else { return statement.value(offset + CInt(index)) }
        let cell = largeRow.cells[index]
        let bytes =
            isLarge(index)
            ? try largeValue(index).bytes() : StoredBytes(largeRow.unsafeBytes(index))
        return switch cell.storageClass {
        case .null: .null
        case .integer: .integer(cell.integer)
        case .real: .real(bits: UInt64(bitPattern: cell.integer))
        case .text: .text(bytes)
        case .blob: .blob(bytes)
        }
    }

    /// Returns whether a value has the storage class and the bytes of another cursor's value.
    public func hasSameValue(
        _ index: Int,
        as other: borrowing TableCursor,
        _ otherIndex: Int
    ) throws -> Bool {
        let kind = storageClass(index)
        guard other.storageClass(otherIndex) == kind else { return false }
        switch kind {
        case .null: return true
        case .integer: return integer(index) == other.integer(otherIndex)
        case .real: return realBits(index) == other.realBits(otherIndex)
        case .text, .blob: break
        }
        guard byteCount(index) == other.byteCount(otherIndex) else { return false }
        switch (isLarge(index), other.isLarge(otherIndex)) {
        case (false, false):
            return unsafeBytes(index).compare(with: other.unsafeBytes(otherIndex)) == 0
        case (true, true):
            let value = try largeValue(index)
            return try value.hasSameBytes(as: other.largeValue(otherIndex))
        case (true, false):
            return try largeValue(index).hasBytes(other.unsafeBytes(otherIndex))
        case (false, true):
            return try other.largeValue(otherIndex).hasBytes(unsafeBytes(index))
        }
    }
}

extension TableSchema {
    /// The name of the rowid in SQL; `nil` if columns use all of its names, or if there is no rowid.
    public var rowIDName: String? {
        guard !isWithoutRowID else { return nil }
        if let rowIDAlias { return columns[rowIDAlias].name.sqlIdentifier }
        let names = Set(columns.map(\.name.foldedIdentifier))
        return ["rowid", "_rowid_", "oid"].first { !names.contains($0.exact) }
    }

    /// Returns the statement that a cursor runs.
    ///
    /// It sorts a key by bytes, whatever the collation of its index. So two stores, or a store and its shadow, have
    /// the same order.
    fileprivate func selection(
        _ places: [Int],
        sortedBy keyColumns: [Int],
        byRowID: Bool,
        needsKey: Bool,
        store: String
    ) throws -> String {
        guard isWithoutRowID || rowIDName != nil || !needsKey, kind == .table || kind == .shadow
        else {
            let reason = "the rows of '\(name)' have no usable key"
            throw StoreError.unreadable(store, reason: reason)
        }
        let rowID = rowIDName ?? "0"
        let keys = keyColumns.map { columns[$0].name.sqlIdentifier }
        let values = places.map { columns[$0].name.sqlIdentifier }
        let selected = ([rowID] + keys + values).joined(separator: ", ")
        let start = "SELECT \(selected) FROM main.\(name.sqlIdentifier)"
        if byRowID { return "\(start) WHERE \(rowID) BETWEEN ?1 AND ?2 ORDER BY \(rowID)" }
        guard !keys.isEmpty else { return start }
        let sorted = keys.map { "\($0) COLLATE BINARY" } + (rowIDName.map { [$0] } ?? [])
        return "\(start) ORDER BY \(sorted.joined(separator: ", "))"
    }
}
