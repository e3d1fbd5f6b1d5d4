internal import Changes
internal import Foundation
internal import GRDB
internal import Stores

/// A row that is alive and not shown.
struct HeldRow: Equatable {
    /// The reason, as a word.
    enum Why: String {
        case unborn, table, reference, same, refused, parent, unique, yields, unsettled, blob
    }

    var id: RowID
    var table: TableName
    var why: Why
    /// The row that it waits for, or its stand-in.
    var other: RowID?
    /// SQLite's words, if it refuses the row.
    var words: String?
}

extension SidecarAccess {
    /// Returns the rows that have a row as their stand-in.
    func standingBehind(_ id: RowID, why: [HeldRow.Why] = [.unique, .same]) throws -> [RowID] {
        guard try hasTies else { return [] }
        return try all("SELECT id, why FROM held WHERE key = ?", .id(id)) { row in
            why.contains { $0.rawValue == row.text(1) } ? row.id(0) : nil
        }
    }

    /// Marks the view for another computation if any row is held, or shown differently from its state.
    ///
    /// An application's edit may have changed that.
    func wakeHeld() throws {
        if try hasTies { try markDirty(.zero) }
    }
}

// Rows that SQLite refused while the store was written.
extension SidecarAccess {
    /// Holds rows that SQLite refuses, with its words, until the next run.
    func refuse(_ rows: [RowID: String]) throws {
        for (id, words) in rows {
            try perform(
                "INSERT OR REPLACE INTO refusal (id, words) VALUES (?, ?)",
                .id(id),
                .text(words)
            )
            try markDirty(id)
        }
    }

    func refusals() throws -> [RowID: String] {
        let found = try all("SELECT id, words FROM refusal") { row in
            row.id(0).map { ($0, row.text(1)) }
        }
        return Dictionary(found) { first, _ in first }
    }

    /// Has rows that were refused tried again.
    func retryRefused() throws {
        try run("INSERT OR IGNORE INTO dirty (id) SELECT id FROM refusal")
        try run("DELETE FROM refusal")
    }
}

// Edits that lost.
extension SidecarAccess {
    var conflictCount: Int64 { get throws { try count("SELECT count(*) FROM conflict") } }

    /// Returns the number of a table's rows with initial values that lost.
    func yieldingCount(in table: TableName) throws -> Int64 {
        try count(
            "SELECT count(DISTINCT id) FROM conflict WHERE t = ? AND kind = ?",
            [number(of: table), Conflict.Kind.seed.rawValue]
        )
    }
}

// Tables.
extension SidecarAccess {
    func isSeeded(_ table: TableName) throws -> Bool {
        try count("SELECT seeded FROM tab WHERE t = ?", [number(of: table)]) != 0
    }

    /// Records that a table was captured.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - nameless: the number of the store's rows that do not sync, since their key is NULL.
    /// - Throws: `SidecarError`.
    func setSeeded(_ table: TableName, nameless: Int = 0) throws {
        let sql = "UPDATE tab SET seeded = 1, nameless = ? WHERE t = ?"
        try run(sql, [nameless, number(of: table)])
    }

    func seededTables() throws -> [TableName] {
        try rows("SELECT t FROM tab WHERE seeded = 1").map { try table($0[0]) }
    }

    /// Forgets the shadow of a table that the schema no longer has, or that the map leaves out; its rows are then
    /// held.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - keepsIDs: whether the table may still have its rows, which `bringBack` then finds again.
    /// - Throws: `SidecarError`.
    func leave(_ table: TableName, keepsIDs: Bool) throws {
        let number = try number(of: table)
        try run("INSERT OR IGNORE INTO dirty (id) SELECT id FROM shown WHERE t = ?", [number])
        try run("DELETE FROM parked WHERE t = ?", [number])
        if keepsIDs {
            try run(
                "INSERT INTO parked (t, h, id, cl, image) SELECT t, h, id, cl, image FROM shown WHERE t = ?",
                [number]
            )
        } else {
            try run("DELETE FROM key WHERE t = ?", [number])
        }
        try run("DELETE FROM shown WHERE t = ?", [number])
        try run("UPDATE tab SET seeded = 0 WHERE t = ?", [number])
    }

    /// Returns whether the ids of a table's rows were kept when the map left the table out.
    func hasParked(_ table: TableName) throws -> Bool {
        try row("SELECT 1 FROM parked WHERE t = ? LIMIT 1", [number(of: table)]) != nil
    }

    /// Shows a row again as it was when the map left its table out; does nothing if it did not exist then.
    func bringBack(_ key: RowKey, in table: TableName) throws {
        try run(
            """
            INSERT OR IGNORE INTO shown (t, h, id, cl, image)
            SELECT t, h, id, cl, image FROM parked WHERE t = ? AND h = ?
            """,
            [number(of: table), Data(key.bytes)]
        )
    }

    /// Ends the return of a table, which then counts as one that was there before.
    ///
    /// Rows that are gone keep their keys.
    func endReturn(of table: TableName) throws {
        let number = try number(of: table)
        try run(
            """
            INSERT OR IGNORE INTO key (t, h, id) SELECT t, h, id FROM parked
            WHERE t = ?1 AND NOT EXISTS (SELECT 1 FROM shown WHERE shown.id = parked.id)
            """,
            [number]
        )
        hasFormerKeysNow = nil
        try run("DELETE FROM parked WHERE t = ?", [number])
        try run("INSERT OR IGNORE INTO dirty (id) SELECT id FROM shown WHERE t = ?", [number])
        try setSeeded(table)
    }
}
