internal import Changes
internal import Foundation
internal import GRDB

/// A row that is alive and not shown.
struct HeldRow: Equatable {
    /// The reason, as a word.
    enum Why: String {
        case unborn, table, reference, same, refused, parent, unique, unsettled, blob
    }

    var id: RowID
    var table: TableName
    var why: Why
    /// The row that it waits for, or that stands for it.
    var other: RowID?
}

extension SidecarAccess {
    /// Returns the rows that a row is shown for, besides itself.
    func standingBehind(_ id: RowID, why: [HeldRow.Why] = [.unique, .same]) throws -> [RowID] {
        try rows("SELECT id, why FROM held WHERE key = ?", [Data(id.bytes)]).compactMap { row in
            why.contains { $0.rawValue == row[1] as String? } ? RowID(bytes: row.bytes(0)) : nil
        }
    }

    /// Has the view be computed again if anything is held, or not shown as it is: what an application did
    /// may have changed that.
    func wakeHeld() throws {
        if try hasTies { try markDirty(.zero) }
    }
}

// Edits that lost.
extension SidecarAccess {
    /// Adds a conflict to the list.
    func note(_ conflict: Conflict) throws {
        try run(
            """
            INSERT INTO conflict (at, t, id, c, kind, won, lost, won_by, lost_by)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                integer("now") ?? 0, number(of: conflict.table), Data(conflict.id.bytes),
                conflict.column.map { try number(of: $0) }, conflict.kind.rawValue,
                conflict.won.map { Data($0.encoded) }, conflict.lost.map { Data($0.encoded) },
                number(of: conflict.wonBy), number(of: conflict.lostBy),
            ]
        )
    }

    var conflictCount: Int64 { get throws { try count("SELECT count(*) FROM conflict") } }
}

// Tables.
extension SidecarAccess {
    func isSeeded(_ table: TableName) throws -> Bool {
        try count("SELECT seeded FROM tab WHERE t = ?", [number(of: table)]) != 0
    }

    func setSeeded(_ table: TableName) throws {
        try run("UPDATE tab SET seeded = 1 WHERE t = ?", [number(of: table)])
    }

    func seededTables() throws -> [TableName] {
        try rows("SELECT t FROM tab WHERE seeded = 1").map { try table($0[0]) }
    }

    /// Forgets what a table showed that the schema has no more: its rows are held from now on.
    func leave(_ table: TableName) throws {
        let number = try number(of: table)
        try run("INSERT OR IGNORE INTO dirty (id) SELECT id FROM shown WHERE t = ?", [number])
        try run("DELETE FROM shown WHERE t = ?", [number])
        try run("DELETE FROM key WHERE t = ?", [number])
        try run("UPDATE tab SET seeded = 0 WHERE t = ?", [number])
    }
}
