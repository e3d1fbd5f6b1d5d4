internal import CSQLite

/// The rows of a table in the order of their keys, one at a time.
///
/// What it lends of a row is valid until the next one. Values over `largeSize` are read by pieces, so
/// that memory does not grow with them, where the order is that of the rowid; SQLite reads those of other
/// orders, and of stores in UTF-16, whole. A cursor, and all else that uses its connection, is used by one thread at a time.
public struct TableCursor: ~Copyable {
    /// The key by which rows are known, and in whose order they come.
    public enum Order: Sendable {
        /// The rowid, or the primary key of a table without.
        case local
        /// The primary key where there is one; rows whose keys are equal (with NULL) by rowid.
        case primaryKey
        /// All values that are read: of a table whose rows no key tells apart, or none that another has.
        case content
        /// As they come, by no key.
        case none
    }

    /// The most bytes of a value that is read at once: 64 KiB.
    public static let largeSize = 65_536

    public let table: TableSchema
    /// The places in the table's columns of those that are read.
    public let columns: [Int]
    /// Whether keys are rowids.
    public let isByRowID: Bool
    /// The rowid of the row; 0 in a table without.
    public private(set) var rowID: Int64 = 0

    private let statement: Statement
    /// The places of the columns by which rows are sorted; none if that is the rowid.
    private let keyColumns: [Int]
    private let limits: ClosedRange<Int64>
    /// The most bytes of a value that the statement reads: by pieces, a text in UTF-16 would stay so.
    private let lengthLimit: CInt
    private var encoding = KeyEncoding()
    /// A row with large values, which the statement could not read.
    private var largeRow: LargeRow?
    private let name: String
    /// Keeps the connection open.
    private let owner: AnyObject?

    /// The columns before those asked for: the rowid, and the primary key if that is the order.
    private var offset: CInt { CInt(1 + keyColumns.count) }

    /// Begins to read a table.
    ///
    /// - Parameters:
    ///   - table: as the schema of this connection has it.
    ///   - database: a connection (`sqlite3 *`), in a transaction if rows must be of one state.
    ///   - owner: kept as long as the cursor.
    ///   - name: the store's name in messages.
    ///   - columns: places in the table's columns; all stored ones if not given.
    ///   - order: by which keys.
    ///   - rowIDs: only these rows; of a table with rowids in their order.
    /// - Throws: `StoreError`, also if rows of this table have no key that can be told.
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
            // SQLite sorts UTF-16 in another order than that of the same text in UTF-8.
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

    /// Goes on to the next row.
    ///
    /// - Returns: `false` if there is none; do not ask again.
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

    /// Compares the keys of two cursors' rows: below 0 if this one comes first.
    func compareKey(with other: borrowing TableCursor) -> Int {
        if isByRowID { return rowID < other.rowID ? -1 : rowID == other.rowID ? 0 : 1 }
        return encoding.bytes.withUnsafeBytes { bytes in
            other.encoding.bytes.withUnsafeBytes { bytes.compare(with: $0) }
        }
    }

    /// The storage class of a value; `index` counts in `columns`, here and below.
    public func storageClass(_ index: Int) -> StorageClass {
        if let largeRow { return largeRow.cells[index].storageClass }
        return statement.storageClass(offset + CInt(index))
    }

    /// An integer; 0 if the value is none.
    public func integer(_ index: Int) -> Int64 {
        if let largeRow { return largeRow.cells[index].integer }
        return statement.integer(offset + CInt(index))
    }

    /// The 64 bits of a number of class `real`.
    public func realBits(_ index: Int) -> UInt64 {
        if let largeRow { return UInt64(bitPattern: largeRow.cells[index].integer) }
        return statement.realBits(offset + CInt(index))
    }

    /// The count of a text's or a blob's bytes.
    public func byteCount(_ index: Int) -> Int64 {
        if let largeRow { return largeRow.cells[index].size }
        return Int64(statement.unsafeBytes(offset + CInt(index)).count)
    }

    /// Whether a text or a blob can be read only by pieces: see `largeValue`.
    public func isLarge(_ index: Int) -> Bool { largeRow?.cells[index].bytes == .large }

    /// The bytes of a text or a blob, until the next row; none of one that `isLarge`.
    public func unsafeBytes(_ index: Int) -> UnsafeRawBufferPointer {
        if let largeRow { return largeRow.unsafeBytes(index) }
        return statement.unsafeBytes(offset + CInt(index))
    }

    /// Opens a text or a blob to be read by pieces.
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

    /// Copies a value; one that `isLarge` is read whole.
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

    /// Returns whether a value has the storage class and the bytes of another cursor's.
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
    /// The name by which SQL asks for the rowid; `nil` if columns have all of its names, or there is none.
    public var rowIDName: String? {
        guard !isWithoutRowID else { return nil }
        if let rowIDAlias { return columns[rowIDAlias].name.sqlIdentifier }
        let names = Set(columns.map(\.name.foldedIdentifier))
        return ["rowid", "_rowid_", "oid"].first { !names.contains($0) }
    }

    /// Returns the statement that a cursor runs.
    ///
    /// A key is sorted by bytes, whatever collation its index has: of two stores, or of a store and what
    /// is remembered of it, each has then the same order.
    fileprivate func selection(
        _ places: [Int],
        sortedBy keyColumns: [Int],
        byRowID: Bool,
        needsKey: Bool,
        store: String
    ) throws -> String {
        guard isWithoutRowID || rowIDName != nil || !needsKey, kind == .table || kind == .shadow
        else {
            let reason = "the rows of '\(name)' have no key that can be told"
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
