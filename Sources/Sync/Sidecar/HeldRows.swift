internal import Changes
internal import Foundation
internal import GRDB
internal import Stores

/// A row's dependency on another row, or a name of the row.
struct RowTie: Hashable {
    enum Kind: Int64 {
        /// The row is not shown, or not as its state has it, and this may change with the other row.
        case waits
        /// The row has the values of this name, and the store does not show them.
        case isCalled
        /// The row has a stand-in, and the name is one of its unique keys: an older row that gets the key may become
        /// its stand-in.
        case competes
    }

    var id: RowID
    /// A row, or a name made of values; see `ReferenceName`.
    var other: RowID
    var kind = Kind.waits
}

/// A row that is alive and not shown.
struct HeldRow: Equatable {
    /// The reason, as a word.
    enum Why: String {
        case unborn, table, reference, same, refused, parent, unique, yields, unsettled, blob
        /// The row was deleted elsewhere, and is shown all the same.
        case kept
        /// A change of the row cannot be written yet; the words say why.
        case waits
    }

    var id: RowID
    var table: TableName
    var why: Why
    /// The row that it waits for, or its stand-in.
    var other: RowID?
    /// SQLite's words, if it refuses the row; the table that keeps it; the reason for which it waits.
    var words: String?

    /// Whether another row is shown in its place.
    var hasSuccessor: Bool { [.same, .unique, .yields].contains(why) }

    /// Whether the view holds it, and not the plan for the store.
    var isOfView: Bool { why != .kept && why != .waits }
}

/// The rows that are not shown, or not as their states have them: the owner of `held`, `tie` and `emptied`.
final class HeldRows {
    unowned let access: SidecarAccess
    /// Whether any row is held or tied; `nil` if this was not read yet.
    private var hasTiesNow: Bool?

    init(_ access: SidecarAccess) { self.access = access }

    /// Returns the rows whose place in the view depends on the order in which rows were tried.
    func late() throws -> [RowID] {
        try access.rows("SELECT id FROM held WHERE key = ?", [Data(RowID.zero.bytes)])
            .compactMap { RowID(bytes: $0.bytes(0)) }
    }

    /// The number of rows that are not shown since another row has the same unique value.
    var yieldingCount: Int64 {
        get throws {
            try access.count("SELECT count(*) FROM held WHERE why IN ('unique', 'yields')")
        }
    }

    /// Whether any row is not shown, or not as its state has it.
    var hasTies: Bool {
        get throws {
            if let hasTiesNow { return hasTiesNow }
            let has = try access.has("SELECT 1 FROM held UNION ALL SELECT 1 FROM tie LIMIT 1")
            hasTiesNow = has
            return has
        }
    }

    /// Returns whether any row of a table is held.
    func has(of table: TableName) throws -> Bool {
        guard try hasTies else { return false }
        let number = SidecarValue.integer(try access.number(of: table))
        return try access.has("SELECT 1 FROM held WHERE t = ? LIMIT 1", number)
    }

    /// Returns the rows that may be shown differently once a row, or a name, changes.
    func dependants(on other: RowID) throws -> [RowID] {
        guard try hasTies else { return [] }
        return try access.all(
            "SELECT id FROM tie WHERE other = ?1 UNION SELECT id FROM held WHERE key = ?1",
            .id(other)
        ) { $0.id(0) }
    }

    /// Returns whether a row is shown without the row that a column names, or is in a ring that was cut elsewhere.
    func empties(_ column: ColumnName, of id: RowID) throws -> Bool {
        guard try hasTies else { return false }
        return try access.has(
            """
            SELECT 1 FROM emptied WHERE c = ?2
                AND (id = ?1 OR id IN (SELECT id FROM tie WHERE other = ?1 AND kind = 0))
            """,
            .id(id),
            .integer(access.number(of: column))
        )
    }

    /// Whether any row has a stand-in because of a unique key.
    var hasCompetitors: Bool {
        get throws {
            let kind = RowTie.Kind.competes.rawValue
            return try access.row("SELECT 1 FROM tie WHERE kind = ? LIMIT 1", [kind]) != nil
        }
    }

    /// Returns the names that a row had at the last view, and that the store does not show.
    func names(of id: RowID) throws -> [RowID] {
        try access.rows(
            "SELECT other FROM tie WHERE id = ? AND kind = ?",
            [Data(id.bytes), RowTie.Kind.isCalled.rawValue]
        ).compactMap { RowID(bytes: $0.bytes(0)) }
    }

    /// Returns the rows that have a name without showing it.
    func rows(called name: RowID) throws -> [RowID] {
        try access.rows(
            "SELECT id FROM tie WHERE other = ? AND kind = ?",
            [Data(name.bytes), RowTie.Kind.isCalled.rawValue]
        ).compactMap { RowID(bytes: $0.bytes(0)) }
    }

    /// Forgets all held rows, ties and emptied references.
    func clear() throws {
        try access.run("DELETE FROM held")
        try access.run("DELETE FROM tie")
        try access.run("DELETE FROM emptied")
        hasTiesNow = nil
    }

    /// Replaces the held rows, ties and emptied references of some rows, or of all if `ids` is `nil`.
    func keep(
        _ held: [HeldRow],
        _ ties: Set<RowTie>,
        _ emptied: [RowID: Set<ColumnName>],
        of ids: Set<RowID>?
    ) throws {
        if let ids {
            for id in try hasTies ? ids.sorted() : [] {
                try access.perform("DELETE FROM held WHERE id = ?", .id(id))
                try access.perform("DELETE FROM tie WHERE id = ?", .id(id))
                // An empty reference is a tie as well.
                try access.perform("DELETE FROM emptied WHERE id = ?", .id(id))
            }
        } else {
            try clear()
        }
        hasTiesNow = nil
        for (id, columns) in emptied {
            for column in columns {
                try access.perform(
                    "INSERT OR IGNORE INTO emptied (id, c) VALUES (?, ?)",
                    .id(id),
                    .integer(access.number(of: column))
                )
            }
        }
        for row in held { try add(row) }
        for tie in ties {
            try access.perform(
                "INSERT OR IGNORE INTO tie (other, id, kind) VALUES (?, ?, ?)",
                .id(tie.other),
                .id(tie.id),
                .integer(tie.kind.rawValue)
            )
        }
    }

    /// Adds the record of a row, or replaces it.
    func add(_ row: HeldRow) throws {
        try access.perform(
            "INSERT OR REPLACE INTO held (id, t, why, key, words) VALUES (?, ?, ?, ?, ?)",
            .id(row.id),
            .integer(access.number(of: row.table)),
            .text(row.why.rawValue),
            .optional(row.other),
            row.words.map { .text($0) } ?? .null
        )
        hasTiesNow = nil
    }

    /// Returns whether a row is alive and not shown, and no other row is shown in its place.
    func hides(_ id: RowID) throws -> Bool { try row(id).map { $0.why != .same } ?? false }

    /// Returns the record of a held row; `nil` if the row is not held.
    func row(_ id: RowID) throws -> HeldRow? {
        guard try hasTies else { return nil }
        return try access.first("SELECT t, why, key FROM held WHERE id = ?", .id(id)) { row in
            guard let why = row.text(1).flatMap(HeldRow.Why.init) else { return nil }
            let table = try access.table(row.integer(0))
            return HeldRow(id: id, table: table, why: why, other: row.id(2))
        }
    }

    func forEach(_ body: (HeldRow) throws -> Void) throws {
        for found in try access.rows("SELECT id FROM held") {
            guard let id = RowID(bytes: found.bytes(0)), let held = try row(id) else { continue }
            try body(held)
        }
    }

    /// Returns the rows that have a row as their stand-in.
    func standingBehind(_ id: RowID, why: [HeldRow.Why] = [.unique, .same]) throws -> [RowID] {
        guard try hasTies else { return [] }
        return try access.all("SELECT id, why FROM held WHERE key = ?", .id(id)) { row in
            why.contains { $0.rawValue == row.text(1) } ? row.id(0) : nil
        }
    }

    /// Marks the view for another computation if any row is held, or shown differently from its state.
    ///
    /// An application's edit may have changed that.
    func wake() throws {
        if try hasTies { try access.dirty.mark(.zero) }
    }
}
