internal import Changes
internal import Foundation
internal import GRDB

// What sync took out of the store, and edits that lost.
extension SidecarAccess {
    /// Adds an entry to the list of what went.
    ///
    /// - Parameters:
    ///   - conflict: the row or value.
    ///   - isSettled: whether it is gone already; if not, `settle` says so, and `dropIntents` forgets it.
    /// - Throws: `SidecarError`.
    func note(_ conflict: Conflict, isSettled: Bool = true) throws {
        try run(
            """
            INSERT INTO removed (at, t, id, c, kind, won, lost, won_by, lost_by, cells, conflict, settled)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                integer("now") ?? 0, number(of: conflict.table), Data(conflict.id.bytes),
                conflict.column.map { try number(of: $0) }, conflict.kind.rawValue,
                conflict.won.map { Data($0.encoded) }, conflict.lost.map { Data($0.encoded) },
                number(of: conflict.wonBy), number(of: conflict.lostBy),
                conflict.cells.map { Data(try removedBytes($0)) }, conflict.isConflict, isSettled,
            ]
        )
    }

    private func removedBytes(_ cells: [(column: ColumnName, value: Value)]) throws -> [UInt8] {
        var writer = ByteWriter()
        for (column, value) in cells {
            try writer.varint(UInt64(number(of: column)))
            writer.value(value)
        }
        return writer.bytes
    }

    /// Reads the values of a row that went.
    func removedCells(_ bytes: [UInt8]) throws -> [(column: ColumnName, value: Value)] {
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            var cells: [(column: ColumnName, value: Value)] = []
            do {
                while reader.left > 0 {
                    let name = try self.column(Int64(truncatingIfNeeded: reader.varint()))
                    cells.append((name, try reader.value()))
                }
            } catch let breach as FormatBreach {
                throw damaged("a removed row cannot be read: \(breach.reason)")
            }
            return cells
        }
    }

    /// Returns the last known values of a deleted row; empty if this device has never had it, or has forgotten it.
    func lastCells(of id: RowID) throws -> [(column: ColumnName, value: Value)] {
        let lost = try lost(id)
        if !lost.isEmpty { return lost }
        let sql = """
            SELECT cells FROM removed WHERE id = ? AND cells IS NOT NULL AND settled = 1
            ORDER BY n DESC LIMIT 1
            """
        return try row(sql, [Data(id.bytes)]).map { try removedCells($0.bytes(0)) } ?? []
    }

    /// Returns the deleted row of a table that had values in some columns when this store last had it.
    func removedRow(of table: TableName, with values: [(column: ColumnName, value: Value)]) throws
        -> RowID?
    {
        let sql = """
            SELECT id, cells FROM removed WHERE t = ? AND cells IS NOT NULL AND settled = 1
            ORDER BY n DESC
            """
        for row in try rows(sql, [number(of: table)]) {
            let cells = try removedCells(row.bytes(1))
            let hasAll = values.allSatisfy { value in
                cells.contains { $0.column == value.column && $0.value.unmarked == value.value }
            }
            if hasAll { return RowID(bytes: row.bytes(0)) }
        }
        return nil
    }

    /// Forgets what went long ago, and the oldest entries beyond a size.
    func expireRemoved(_ rules: UpkeepRules, now: Int64) throws {
        try run(
            "DELETE FROM removed WHERE conflict = 0 AND at < ?",
            [now - rules.removedKeeping]
        )
        try run(
            """
            DELETE FROM removed WHERE n IN (SELECT n FROM (SELECT n, sum(coalesce(length(lost), 0)
                + coalesce(length(won), 0) + coalesce(length(cells), 0)) OVER (ORDER BY n DESC) AS size
                FROM removed) WHERE size > ?)
            """,
            [rules.removedBytes]
        )
    }
}
