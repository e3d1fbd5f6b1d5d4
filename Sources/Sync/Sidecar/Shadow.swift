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

/// The store's rows at the last look: the owner of the shadow in `row`, of `key` and of `leaf`.
final class Shadow {
    private unowned let access: SidecarAccess
    /// Whether any row that is not shown has a known key; `nil` if this was not read yet.
    var hasFormerKeysNow: Bool?

    init(_ access: SidecarAccess) { self.access = access }

    func row(_ id: RowID) throws -> ShownRow? {
        try access.first("SELECT * FROM shown WHERE id = ?", .id(id), read: shown)
    }

    /// Returns a row whose image shares values with its state; `nil` for any other.
    func sharing(_ id: RowID) throws -> (table: TableName, row: ShownRow)? {
        try access.first(
            "SELECT * FROM shown WHERE id = ? AND substr(image, 1, 1) = x'00'",
            .id(id)
        ) { try (access.table($0.integer(1)), shown($0)) }
    }

    func has(_ id: RowID) throws -> Bool {
        try access.has("SELECT 1 FROM shown WHERE id = ?", .id(id))
    }

    /// Returns a shown row with its table; `nil` if the row is not shown.
    func place(of id: RowID) throws -> (table: TableName, row: ShownRow)? {
        try access.first("SELECT * FROM shown WHERE id = ?", .id(id)) { row in
            try (access.table(row.integer(1)), shown(row))
        }
    }

    /// Returns the id of the row at a local key, if one is shown there.
    func id(at key: RowKey, in table: TableName) throws -> RowID? {
        try access.first(
            "SELECT id FROM shown WHERE t = ? AND h = ?",
            .integer(access.number(of: table)),
            .bytes(key.bytes)
        ) { $0.id(0) }
    }

    /// Passes the rows of a table, in the order of their keys.
    func forEach(in table: TableName, _ body: (ShownRow) throws -> Void) throws {
        var cursor = try cursor(in: table)
        while let row = try cursor.next() { try body(row) }
    }

    /// Begins to read the rows of a table, or those in a range of rowids, in the order of their keys.
    func cursor(in table: TableName, rowIDs: ClosedRange<Int64>? = nil) throws -> ShownCursor {
        let number = SidecarValue.integer(try access.number(of: table))
        guard let rowIDs else {
            let sql: StaticString = "SELECT * FROM shown WHERE t = ? ORDER BY h"
            return try ShownCursor(sql, [number], access)
        }
        return try ShownCursor(
            "SELECT * FROM shown WHERE t = ? AND h BETWEEN ? AND ? ORDER BY h",
            [
                number, .bytes(RowKey.rowID(rowIDs.lowerBound).bytes),
                .bytes(RowKey.rowID(rowIDs.upperBound).bytes),
            ],
            access
        )
    }

    func count(in table: TableName) throws -> Int64 {
        try access.count("SELECT count(*) FROM shown WHERE t = ?", [access.number(of: table)])
    }

    /// Returns whether any row of a table is shown.
    func hasRows(in table: TableName) throws -> Bool {
        try access.has(
            "SELECT 1 FROM shown WHERE t = ? LIMIT 1",
            .integer(access.number(of: table))
        )
    }

    /// Shows a row as it is in the store.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - table: its table.
    ///   - shared: the numbers of columns whose values are those of its state, which are not kept twice.
    /// - Throws: `SidecarError`.
    func show(_ row: ShownRow, in table: TableName, sharing shared: Set<Int64> = []) throws {
        let image = SidecarValue.bytes(try row.image.kept(sharing: shared))
        do {
            try keep(row, in: table, image)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // Another row was at its key.
            try forget(row.key, in: table)
            try keep(row, in: table, image)
        }
    }

    /// Forgets the row at a key: all of it if nothing is known of it.
    private func forget(_ key: RowKey, in table: TableName) throws {
        let table = SidecarValue.integer(try access.number(of: table))
        let key = SidecarValue.bytes(key.bytes)
        try access.perform("DELETE FROM row WHERE t = ? AND h = ? AND cl = 0", table, key)
        try access.perform(
            "UPDATE row SET h = NULL, length = NULL, image = NULL WHERE t = ? AND h = ?",
            table,
            key
        )
    }

    /// Forgets the rows of a table: all of those of which nothing is known.
    func forgetRows(of table: TableName) throws {
        let table = SidecarValue.integer(try access.number(of: table))
        try access.perform("DELETE FROM row WHERE t = ? AND h IS NOT NULL AND cl = 0", table)
        try access.perform(
            "UPDATE row SET h = NULL, length = NULL, image = NULL WHERE t = ? AND h IS NOT NULL",
            table
        )
    }

    private func keep(_ row: ShownRow, in table: TableName, _ image: SidecarValue) throws {
        let values: [SidecarValue] = try [
            .id(row.id), .integer(access.number(of: table)), .bytes(row.key.bytes),
            .integer(Int64(row.causalLength)), image,
        ]
        // Of most rows something is known.
        let update: StaticString =
            "UPDATE row SET t = ?2, h = ?3, length = ?4, image = ?5 WHERE id = ?1"
        try access.statement(update).run(values)
        if access.database.changesCount > 0 { return }
        let insert: StaticString =
            "INSERT INTO row (id, t, cl, body, h, length, image) VALUES (?1, ?2, 0, x'', ?3, ?4, ?5)"
        try access.statement(insert).run(values)
    }

    /// Removes a row from the shadow, and keeps its local key, in case it comes back.
    func hide(_ row: ShownRow, in table: TableName) throws {
        if try id(at: row.key, in: table) == row.id { try forget(row.key, in: table) }
        try access.perform(
            "INSERT OR REPLACE INTO key (t, h, id, content) VALUES (?, ?, ?, ?)",
            .integer(access.number(of: table)),
            .bytes(row.key.bytes),
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
    func formerID(at key: RowKey, in table: TableName, as image: RowImage? = nil) throws -> RowID? {
        guard try hasFormerKeys else { return nil }
        return try access.first(
            "SELECT id, content FROM key WHERE t = ? AND h = ?",
            .integer(access.number(of: table)),
            .bytes(key.bytes)
        ) { image == nil || $0.bytes(1) == image?.hash ? $0.id(0) : nil }
    }

    /// Returns the last local key of a row, if it is not shown.
    func formerKey(of id: RowID) throws -> RowKey? {
        guard try hasFormerKeys else { return nil }
        return try access.first("SELECT h FROM key WHERE id = ?", .id(id)) { $0.key(0) }
    }

    func forgetFormerKey(of id: RowID) throws {
        if try hasFormerKeys { try access.perform("DELETE FROM key WHERE id = ?", .id(id)) }
    }

    /// Whether any row that is not shown has a known key.
    private var hasFormerKeys: Bool {
        get throws {
            if let hasFormerKeysNow { return hasFormerKeysNow }
            let has = try access.has("SELECT 1 FROM key LIMIT 1")
            hasFormerKeysNow = has
            return has
        }
    }

    /// Returns the greatest rowid that was ever assigned in a table, as far as it is known.
    func greatestKey(in table: TableName) throws -> Int64 {
        let number = SidecarValue.integer(try access.number(of: table))
        let found = [
            try access.first("SELECT max(h) FROM shown WHERE t = ?", number) { $0.key(0) },
            try access.first("SELECT max(h) FROM key WHERE t = ?", number) { $0.key(0) },
        ]
        return found.compactMap { $0?.number }.reduce(0, max)
    }

    /// Returns the row of a query that begins with all columns of `shown`.
    func shown(_ row: Stores.Statement) throws -> ShownRow {
        guard let key = row.key(7), let id = row.id(0) else {
            throw access.damaged("a row of the shadow has no key")
        }
        let image: RowImage
        do {
            image = try RowImage(kept: row.unsafeBytes(9), cells: row.unsafeBytes(6))
        } catch {
            throw access.damaged("a row of the shadow cannot be read: \(error.reason)")
        }
        let length = UInt32(truncatingIfNeeded: row.integer(8))
        return ShownRow(key: key, id: id, causalLength: length, image: image)
    }

    // MARK: - The pages of its rows, so that only changed pages are read

    /// Returns the key of the leaves' hashes, and creates it at the first call.
    func leafKey() throws -> [UInt8] {
        if let key = try access.bytes("leaf_key"), key.count == 16 { return key }
        let key = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        try access.set("leaf_key", bytes: key)
        return key
    }

    /// Returns the leaves of a table in order; empty if all rows must be read.
    func leaves(of table: TableName) throws -> [Leaf] {
        let sql = "SELECT lo, hi, hash FROM leaf WHERE t = ? ORDER BY lo"
        return try access.rows(sql, [access.number(of: table)]).map {
            let (low, high): (Int64, Int64) = ($0[0], $0[1])
            guard low <= high else { throw access.damaged("a leaf ends before it begins") }
            return Leaf(rowIDs: low...high, hash: UInt64(bitPattern: $0[2] as Int64))
        }
    }

    /// Replaces the leaves of a table; with `nil`, its rows are read next time.
    func setLeaves(_ leaves: [Leaf]?, of table: TableName) throws {
        let number = try access.number(of: table)
        guard let leaves else { return try access.run("DELETE FROM leaf WHERE t = ?", [number]) }
        let old = Set(try self.leaves(of: table))
        let new = Set(leaves)
        for leaf in old.subtracting(new) {
            try access.run(
                "DELETE FROM leaf WHERE t = ? AND lo = ?",
                [number, leaf.rowIDs.lowerBound]
            )
        }
        for leaf in new.subtracting(old) {
            try access.run(
                "INSERT OR REPLACE INTO leaf (t, lo, hi, hash) VALUES (?, ?, ?, ?)",
                [
                    number, leaf.rowIDs.lowerBound, leaf.rowIDs.upperBound,
                    Int64(bitPattern: leaf.hash),
                ]
            )
        }
    }

    /// Forgets the leaf of a row, so that the next capture reads its page.
    ///
    /// The shadow has the row as it was written. If the store is put back, its page is the captured one, and would
    /// be skipped.
    func forgetLeaf(at key: RowKey, of table: TableName) throws {
        guard case .rowID(let rowID) = key else { return }
        try access.perform(
            """
            DELETE FROM leaf
            WHERE t = ?1 AND lo = (SELECT max(lo) FROM leaf WHERE t = ?1 AND lo <= ?2) AND hi >= ?2
            """,
            .integer(access.number(of: table)),
            .integer(rowID)
        )
    }

    /// Forgets the leaves of rows that are about to be inserted; see `forgetLeaf`.
    func forgetLeaves(from first: RowKey, to last: RowKey, of table: TableName) throws {
        guard case .rowID(let low) = first, case .rowID(let high) = last else { return }
        try access.perform(
            "DELETE FROM leaf WHERE t = ? AND lo <= ? AND hi >= ?",
            .integer(access.number(of: table)),
            .integer(high),
            .integer(low)
        )
    }

    /// Makes the next capture read all rows, since the shadow may differ from the captured store.
    func forgetLooks() throws {
        try access.run("DELETE FROM leaf")
        try access.set("look", nil)
    }
}

/// A cursor over the shadow of a table.
struct ShownCursor {
    private let statement: Stores.Statement
    private let access: SidecarAccess

    fileprivate init(_ sql: StaticString, _ values: [SidecarValue], _ access: SidecarAccess) throws
    {
        self.access = access
        statement = try access.ownStatement(sql)
        try statement.begin(values)
    }

    mutating func next() throws -> ShownRow? {
        try statement.step() ? access.shadow.shown(statement) : nil
    }
}

extension Stores.Statement {
    /// Returns a local key; `nil` if the column contains none.
    fileprivate func key(_ column: CInt) -> RowKey? { RowKey(bytes: unsafeBytes(column)) }
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
