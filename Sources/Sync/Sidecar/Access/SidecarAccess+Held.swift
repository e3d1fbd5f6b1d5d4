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
