internal import Changes
internal import Foundation
internal import GRDB
internal import Stores

/// A row as the store held it when we last looked.
struct ShownRow: Equatable {
    var key: RowKey
    var id: RowID
    /// The causal length of what is shown.
    var causalLength: UInt32
    var image: RowImage
}

// The shadow.
extension SidecarAccess {
    func shown(_ key: RowKey, in table: TableName) throws -> ShownRow? {
        try row(
            "SELECT h, id, cl, image FROM shown WHERE t = ? AND h = ?",
            [number(of: table), Data(key.bytes)]
        ).map(shown)
    }

    func shown(_ id: RowID) throws -> ShownRow? {
        try row("SELECT h, id, cl, image FROM shown WHERE id = ?", [Data(id.bytes)]).map(shown)
    }

    /// Returns the table in which a row is shown; `nil` if it is not.
    func tableShowing(_ id: RowID) throws -> TableName? {
        try row("SELECT t FROM shown WHERE id = ?", [Data(id.bytes)]).map { try table($0[0]) }
    }

    /// Returns the id of the row at a local key, if one is shown there.
    func id(at key: RowKey, in table: TableName) throws -> RowID? {
        try row(
            "SELECT id FROM shown WHERE t = ? AND h = ?",
            [number(of: table), Data(key.bytes)]
        ).flatMap { RowID(bytes: $0.bytes(0)) }
    }

    /// Lends the rows of a table, in the order of their keys.
    func forEachShown(in table: TableName, _ body: (ShownRow) throws -> Void) throws {
        let number = try number(of: table)
        try forEach("SELECT h, id, cl, image FROM shown WHERE t = ? ORDER BY h", [number]) {
            try body(shown($0))
        }
    }

    /// Begins to read the rows of a table, or those with some rowids, in the order of their keys.
    func shownCursor(
        in table: TableName,
        rowIDs: ClosedRange<Int64>? = nil
    ) throws -> ShownCursor {
        let isInRange = rowIDs == nil ? "" : "AND h BETWEEN ? AND ?"
        var arguments: StatementArguments = [try number(of: table)]
        if let rowIDs {
            arguments += [Data(RowKey.rowID(rowIDs.lowerBound).bytes)]
            arguments += [Data(RowKey.rowID(rowIDs.upperBound).bytes)]
        }
        return ShownCursor(
            rows: try Row.fetchCursor(
                database.makeStatement(
                    sql: "SELECT h, id, cl, image FROM shown WHERE t = ? \(isInRange) ORDER BY h"
                ),
                arguments: arguments
            ),
            access: self
        )
    }

    func shownCount(in table: TableName) throws -> Int64 {
        try count("SELECT count(*) FROM shown WHERE t = ?", [number(of: table)])
    }

    func show(_ row: ShownRow, in table: TableName) throws {
        try run(
            "INSERT OR REPLACE INTO shown (t, h, id, cl, image) VALUES (?, ?, ?, ?, ?)",
            [
                number(of: table), Data(row.key.bytes), Data(row.id.bytes), Int64(row.causalLength),
                Data(row.image.bytes),
            ]
        )
    }

    /// Takes a row out of the shadow; its local key stays known, should it come back.
    func hide(_ row: ShownRow, in table: TableName) throws {
        let table = try number(of: table)
        let key = Data(row.key.bytes)
        try run("DELETE FROM shown WHERE t = ? AND h = ?", [table, key])
        try run(
            "INSERT OR REPLACE INTO key (t, h, id) VALUES (?, ?, ?)",
            [table, key, Data(row.id.bytes)]
        )
    }

    /// Returns the row that was at a local key last, if none is now.
    func formerID(at key: RowKey, in table: TableName) throws -> RowID? {
        try row(
            "SELECT id FROM key WHERE t = ? AND h = ?",
            [number(of: table), Data(key.bytes)]
        ).flatMap { RowID(bytes: $0.bytes(0)) }
    }

    /// Returns the local key that a row had last, if it is not shown.
    func formerKey(of id: RowID) throws -> RowKey? {
        try row("SELECT h FROM key WHERE id = ?", [Data(id.bytes)]).flatMap {
            RowKey(bytes: $0.bytes(0))
        }
    }

    func forgetFormerKey(of id: RowID) throws {
        try run("DELETE FROM key WHERE id = ?", [Data(id.bytes)])
    }

    /// Returns the greatest rowid that was ever given out in a table, as far as is known.
    func greatestKey(in table: TableName) throws -> Int64 {
        let number = try number(of: table)
        var greatest: Int64 = 0
        for source in ["shown", "key"] {
            let found = try row("SELECT max(h) FROM \(source) WHERE t = ?", [number])
            if let found, case .rowID(let rowID)? = RowKey(bytes: found.bytes(0)) {
                greatest = max(greatest, rowID)
            }
        }
        return greatest
    }

    fileprivate func shown(_ row: Row) throws -> ShownRow {
        guard let key = RowKey(bytes: row.bytes(0)), let id = RowID(bytes: row.bytes(1)) else {
            throw damaged("a row of the shadow has no key")
        }
        return ShownRow(
            key: key,
            id: id,
            causalLength: UInt32(truncatingIfNeeded: row[2] as Int64),
            image: RowImage(bytes: row.bytes(3))
        )
    }
}

/// Reads the shadow of a table.
struct ShownCursor {
    fileprivate let rows: RowCursor
    fileprivate let access: SidecarAccess

    mutating func next() throws -> ShownRow? { try rows.next().map(access.shown) }
}

private typealias RowCursor = GRDB.RowCursor

extension RowKey {
    /// Bytes that sort as keys of one table do; a rowid has eight and a flag before them.
    var bytes: [UInt8] {
        switch self {
        case .rowID(let number):
            let sortable = UInt64(bitPattern: number) ^ (1 << 63)
            return [0] + (0..<8).map { UInt8(truncatingIfNeeded: sortable >> UInt64(56 - 8 * $0)) }
        case .primaryKey(let bytes): return [1] + bytes
        }
    }

    init?(bytes: [UInt8]) {
        switch bytes.first {
        case 0 where bytes.count == 9:
            let sortable = bytes.dropFirst().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            self = .rowID(Int64(bitPattern: sortable ^ (1 << 63)))
        case 1: self = .primaryKey(Array(bytes.dropFirst()))
        default: return nil
        }
    }
}
