internal import Changes
internal import GRDB
internal import Stores

/// A row as the store held it at the last look.
struct ShownRow: Equatable {
    var key: RowKey
    var id: RowID
    /// The causal length of the shown row.
    var causalLength: UInt32
    var image: RowImage
}

// The shadow.
extension SidecarAccess {
    func shown(_ id: RowID) throws -> ShownRow? {
        try first("SELECT h, id, cl, image FROM shown WHERE id = ?", .id(id), read: shown)
    }

    func isShown(_ id: RowID) throws -> Bool {
        try has("SELECT 1 FROM shown WHERE id = ?", .id(id))
    }

    /// Returns a shown row with its table; `nil` if the row is not shown.
    func placeOf(_ id: RowID) throws -> (table: TableName, row: ShownRow)? {
        try first("SELECT h, id, cl, image, t FROM shown WHERE id = ?", .id(id)) { row in
            try (table(row.integer(4)), shown(row))
        }
    }

    /// Returns the id of the row at a local key, if one is shown there.
    func id(at key: RowKey, in table: TableName) throws -> RowID? {
        try first(
            "SELECT id FROM shown WHERE t = ? AND h = ?",
            .integer(number(of: table)),
            .bytes(key.bytes)
        ) { $0.id(0) }
    }

    /// Passes the rows of a table, in the order of their keys.
    func forEachShown(in table: TableName, _ body: (ShownRow) throws -> Void) throws {
        var cursor = try shownCursor(in: table)
        while let row = try cursor.next() { try body(row) }
    }

    /// Begins to read the rows of a table, or those in a range of rowids, in the order of their keys.
    func shownCursor(
        in table: TableName,
        rowIDs: ClosedRange<Int64>? = nil
    ) throws -> ShownCursor {
        let number = SidecarValue.integer(try number(of: table))
        guard let rowIDs else {
            return try ShownCursor(
                "SELECT h, id, cl, image FROM shown WHERE t = ? ORDER BY h",
                [number],
                self
            )
        }
        return try ShownCursor(
            "SELECT h, id, cl, image FROM shown WHERE t = ? AND h BETWEEN ? AND ? ORDER BY h",
            [
                number, .bytes(RowKey.rowID(rowIDs.lowerBound).bytes),
                .bytes(RowKey.rowID(rowIDs.upperBound).bytes),
            ],
            self
        )
    }

    func shownCount(in table: TableName) throws -> Int64 {
        try count("SELECT count(*) FROM shown WHERE t = ?", [number(of: table)])
    }

    /// Returns whether any row of a table is shown.
    func hasShown(in table: TableName) throws -> Bool {
        try has("SELECT 1 FROM shown WHERE t = ? LIMIT 1", .integer(number(of: table)))
    }

    func show(_ row: ShownRow, in table: TableName) throws {
        try perform(
            "INSERT OR REPLACE INTO shown (t, h, id, cl, image) VALUES (?, ?, ?, ?, ?)",
            .integer(number(of: table)),
            .bytes(row.key.bytes),
            .id(row.id),
            .integer(Int64(row.causalLength)),
            .bytes(row.image.bytes)
        )
    }

    /// Removes a row from the shadow, and keeps its local key, in case it comes back.
    func hide(_ row: ShownRow, in table: TableName) throws {
        let table = SidecarValue.integer(try number(of: table))
        let key = SidecarValue.bytes(row.key.bytes)
        try perform("DELETE FROM shown WHERE t = ? AND h = ? AND id = ?", table, key, .id(row.id))
        try perform(
            "INSERT OR REPLACE INTO key (t, h, id, content) VALUES (?, ?, ?, ?)",
            table,
            key,
            .id(row.id),
            .bytes(row.image.hash)
        )
        hasFormerKeysNow = true
    }

    /// Returns the last row that was at a local key, if none is there now.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - table: the table.
    ///   - image: the image that the row must have had; `nil` for any.
    /// - Returns: its id.
    /// - Throws: `SidecarError`.
    func formerID(
        at key: RowKey,
        in table: TableName,
        as image: RowImage? = nil
    ) throws -> RowID? {
        guard try hasFormerKeys else { return nil }
        return try first(
            "SELECT id, content FROM key WHERE t = ? AND h = ?",
            .integer(number(of: table)),
            .bytes(key.bytes)
        ) { image == nil || $0.bytes(1) == image?.hash ? $0.id(0) : nil }
    }

    /// Returns the last local key of a row, if it is not shown.
    func formerKey(of id: RowID) throws -> RowKey? {
        guard try hasFormerKeys else { return nil }
        return try first("SELECT h FROM key WHERE id = ?", .id(id)) { $0.key(0) }
    }

    func forgetFormerKey(of id: RowID) throws {
        if try hasFormerKeys { try perform("DELETE FROM key WHERE id = ?", .id(id)) }
    }

    /// Whether any row that is not shown has a known key.
    private var hasFormerKeys: Bool {
        get throws {
            if let hasFormerKeysNow { return hasFormerKeysNow }
            let has = try has("SELECT 1 FROM key LIMIT 1")
            hasFormerKeysNow = has
            return has
        }
    }

    /// Returns the greatest rowid that was ever assigned in a table, as far as it is known.
    func greatestKey(in table: TableName) throws -> Int64 {
        let number = SidecarValue.integer(try number(of: table))
        let found = [
            try first("SELECT max(h) FROM shown WHERE t = ?", number) { $0.key(0) },
            try first("SELECT max(h) FROM key WHERE t = ?", number) { $0.key(0) },
        ]
        return found.compactMap { key in
            if case .rowID(let rowID) = key { rowID } else { nil }
        }.reduce(0, max)
    }

    fileprivate func shown(_ row: SidecarStatement) throws -> ShownRow {
        guard let key = row.key(0), let id = row.id(1) else {
            throw damaged("a row of the shadow has no key")
        }
        return ShownRow(
            key: key,
            id: id,
            causalLength: UInt32(truncatingIfNeeded: row.integer(2)),
            image: RowImage(bytes: row.bytes(3))
        )
    }
}

/// A cursor over the shadow of a table.
struct ShownCursor {
    private let statement: SidecarStatement
    private let access: SidecarAccess

    fileprivate init(
        _ sql: StaticString,
        _ values: [SidecarValue],
        _ access: SidecarAccess
    ) throws {
        self.access = access
        statement = try access.ownStatement(sql)
        try statement.begin(values)
    }

    mutating func next() throws -> ShownRow? {
        try statement.step() ? access.shown(statement) : nil
    }
}

extension SidecarStatement {
    /// Returns a local key; `nil` if the column contains none.
    fileprivate func key(_ column: CInt) -> RowKey? { withBytes(column) { RowKey(bytes: $0) } }
}

extension RowKey {
    /// The key as bytes that sort like the keys of one table; a rowid is a flag and eight bytes.
    var bytes: [UInt8] {
        switch self {
        case .rowID(let number):
            let sortable = (UInt64(bitPattern: number) ^ (1 << 63)).bigEndian
            return [UInt8](unsafeUninitializedCapacity: 9) { bytes, count in
                bytes[0] = 0
                UnsafeMutableRawBufferPointer(bytes)
                    .storeBytes(of: sortable, toByteOffset: 1, as: UInt64.self)
                count = 9
            }
        case .primaryKey(let bytes): return [1] + bytes
        }
    }

    init?(bytes: UnsafeRawBufferPointer) {
        switch bytes.first {
        case 0 where bytes.count == 9:
            let sortable = UInt64(
                bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self)
            )
            self = .rowID(Int64(bitPattern: sortable ^ (1 << 63)))
        case 1: self = .primaryKey(Array(bytes.dropFirst()))
        default: return nil
        }
    }

    init?(bytes: [UInt8]) {
        let key = bytes.withUnsafeBytes { RowKey(bytes: $0) }
        guard let key else { return nil }
        self = key
    }
}
