internal import Files

/// A row of one state of a store, kept for comparison with other states.
///
/// It keeps only the digest of a large value, so that many rows fit into memory.
public struct KeptRow: Sendable {
    /// The greatest length in bytes of a value that is kept whole: 4 KiB.
    public static let keptSize = 4096

    private enum Content: Equatable {
        case stored(StoredValue)
        case digest(StorageClass, bytes: Int64, Digest)

        var shown: RowChange.Value {
            switch self {
            case .stored(let value): .stored(value)
            case .digest(let kind, let bytes, _): .large(kind, bytes: bytes)
            }
        }
    }

    private struct Cell {
        var column: String
        var content: Content
    }

    private var values: [Cell] = []
    private var keyColumns: [String] = []
    private var rowID: Int64?

    /// Reads the current row of a cursor.
    ///
    /// - Throws: `StoreError`.
    fileprivate init(_ cursor: borrowing TableCursor, by identity: TableIdentity) throws {
        for (index, place) in cursor.columns.enumerated() {
            let content = try Self.content(index, cursor)
            values.append(Cell(column: cursor.table.columns[place].name, content: content))
        }
        takeKey(of: cursor.table, identity)
        if keyColumns.isEmpty { rowID = cursor.rowID }
    }

    /// Takes the values of a row's stored columns.
    fileprivate init(_ row: [StoredValue], of table: TableSchema, by identity: TableIdentity) {
        for (place, value) in zip(table.storedColumns, row) {
            values.append(Cell(column: table.columns[place].name, content: Self.content(value)))
        }
        takeKey(of: table, identity)
    }

    private mutating func takeKey(of table: TableSchema, _ identity: TableIdentity) {
        let places =
            identity == .primaryKey ? table.primaryKey : table.rowIDAlias.map { [$0] } ?? []
        keyColumns = places.map { table.columns[$0].name }
    }

    private static func content(_ value: StoredValue) -> Content {
        guard case .text(let bytes) = value else {
            guard case .blob(let bytes) = value, bytes.count > keptSize else {
                return .stored(value)
            }
            return digest(.blob, bytes)
        }
        return bytes.count > keptSize ? digest(.text, bytes) : .stored(value)
    }

    private static func digest(_ kind: StorageClass, _ bytes: StoredBytes) -> Content {
        let digest = bytes.withUnsafeBytes { Digest(of: $0) }
        return .digest(kind, bytes: Int64(bytes.count), digest)
    }

    private static func content(
        _ index: Int,
        _ cursor: borrowing TableCursor
    ) throws -> Content {
        guard cursor.isLarge(index) else { return content(try cursor.value(index)) }
        var digest = RunningDigest()
        try cursor.largeValue(index).forEachPiece {
            digest.update($0)
            return true
        }
        return .digest(
            cursor.storageClass(index),
            bytes: cursor.byteCount(index),
            digest.digest
        )
    }

    // MARK: - Looking

    /// The values of the row's key.
    public var key: [(column: String, value: RowChange.Value)] {
        if let rowID { return [("rowid", .stored(.integer(rowID)))] }
        return keyColumns.compactMap { name in
            values.first { $0.column == name }.map { (name, $0.content.shown) }
        }
    }

    /// All values, in the form of a new row.
    public var cells: [RowChange.Cell] {
        values.map { RowChange.Cell(column: $0.column, old: nil, new: $0.content.shown) }
    }

    /// Returns the values in which a later state of the row differs by storage class or bytes, among the columns of
    /// both.
    public func changes(to later: KeptRow) -> [RowChange.Cell] {
        let known = Dictionary(values.map { ($0.column.foldedIdentifier, $0.content) }) { $1 }
        return later.values.compactMap { cell in
            guard let old = known[cell.column.foldedIdentifier], old != cell.content else {
                return nil
            }
            return RowChange.Cell(column: cell.column, old: old.shown, new: cell.content.shown)
        }
    }
}

extension ReadableStore {
    /// Reads the row with a key.
    ///
    /// - Parameters:
    ///   - key: the key as `RowSearch` reports it, in this state of the store or in another.
    ///   - table: the table in this store's schema.
    ///   - identity: the identity of its rows, which is not `content`.
    /// - Returns: the row; `nil` if there is none.
    /// - Throws: `StoreError`.
    public func row(
        at key: RowKey,
        of table: TableSchema,
        by identity: TableIdentity
    ) throws -> KeptRow? {
        try reading {
            guard case .rowID(let number) = key else {
                return try row(withKey: key, of: table, identity)
            }
            return try row(withID: number, of: table, identity)
        }
    }

    private func row(
        withID number: Int64,
        of table: TableSchema,
        _ identity: TableIdentity
    ) throws -> KeptRow? {
        // A cursor reads values of any size in pieces.
        var cursor = try rows(of: table, rowIDs: number...number)
        return try cursor.next() ? KeptRow(cursor, by: identity) : nil
    }

    private func row(
        withKey key: RowKey,
        of table: TableSchema,
        _ identity: TableIdentity
    ) throws -> KeptRow? {
        let names = table.keyNames(by: identity)
        let rest =
            table.rowIDName.map { [$0] }
            ?? table.storedColumns.map { table.columns[$0].name.sqlIdentifier }
        // The index has the column's own collation, which may treat different texts as equal. A collation that only
        // the application has cannot find anything.
        let isSearchable = table.primaryKey.allSatisfy {
            ["binary", "nocase", "rtrim"].contains(table.columns[$0].collation.foldedIdentifier)
        }
        let matches = names.enumerated().map { index, name in
            let match = "\(name) COLLATE BINARY IS ?\(index + 1)"
            return isSearchable ? "\(name) IS ?\(index + 1) AND \(match)" : match
        }
        let statement = try Statement(
            database,
            name: name,
            """
            SELECT \((names + rest).joined(separator: ", ")) FROM main.\(table.name.sqlIdentifier)
            WHERE \(matches.joined(separator: " AND ")) ORDER BY \(table.rowIDName ?? "1")
            """
        )
        try statement.bind(key.values)
        while try statement.step() {
            let values = names.indices.map { statement.value(CInt($0)) }
            guard RowKey(primaryKey: values) == key else { continue }
            let first = CInt(names.count)
            if table.rowIDName != nil {
                return try row(withID: statement.integer(first), of: table, identity)
            }
            let row = rest.indices.map { statement.value(first + CInt($0)) }
            return KeptRow(row, of: table, by: identity)
        }
        return nil
    }
}
