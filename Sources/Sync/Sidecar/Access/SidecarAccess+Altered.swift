internal import Changes
internal import Foundation
internal import GRDB

/// What a row depends on besides, or is called.
struct RowTie: Hashable {
    enum Kind: Int64 {
        /// The row is not shown as its state has it, or not at all, and may be once the other row is, or is
        /// not.
        case waits
        /// The row has the values that make this name, and the store does not show them.
        case isCalled
    }

    var id: RowID
    /// A row, or a name made of values; see `ReferenceName`.
    var other: RowID
    var kind = Kind.waits
}

// Rows that are to be looked at.
extension SidecarAccess {
    func markAltered(_ id: RowID) throws {
        try run("INSERT OR IGNORE INTO altered (id) VALUES (?)", [Data(id.bytes)])
    }

    /// Returns the rows that may not be as the view was, and those whose place in it depends on the order
    /// in which rows were tried.
    func altered() throws -> Set<RowID> {
        let rows = try rows(
            """
            SELECT id FROM altered UNION SELECT id FROM dirty
            UNION SELECT id FROM held WHERE key = ?
            """,
            [Data(RowID.zero.bytes)]
        )
        return Set(rows.compactMap { RowID(bytes: $0.bytes(0)) }.filter { !$0.isZero })
    }

    func clearAltered() throws { try run("DELETE FROM altered") }

    /// Whether any row is not shown, or not as its state has it.
    var hasTies: Bool {
        get throws { try row("SELECT 1 FROM held UNION ALL SELECT 1 FROM tie LIMIT 1") != nil }
    }

    /// Returns the rows that may be shown otherwise once a row, or a name, is another.
    func dependants(on other: RowID) throws -> [RowID] {
        try rows(
            "SELECT id FROM tie WHERE other = ?1 UNION SELECT id FROM held WHERE key = ?1",
            [Data(other.bytes)]
        ).compactMap { RowID(bytes: $0.bytes(0)) }
    }

    /// Returns the names that a row had when the view was computed and that the store does not show.
    func names(of id: RowID) throws -> [RowID] {
        try rows(
            "SELECT other FROM tie WHERE id = ? AND kind = ?",
            [Data(id.bytes), RowTie.Kind.isCalled.rawValue]
        ).compactMap { RowID(bytes: $0.bytes(0)) }
    }

    /// Returns the rows that have a name and do not show it.
    func rows(called name: RowID) throws -> [RowID] {
        try rows(
            "SELECT id FROM tie WHERE other = ? AND kind = ?",
            [Data(name.bytes), RowTie.Kind.isCalled.rawValue]
        ).compactMap { RowID(bytes: $0.bytes(0)) }
    }

    /// Replaces what the view says of rows; of all, if none are given.
    func keep(_ held: [HeldRow], _ ties: Set<RowTie>, of ids: Set<RowID>?) throws {
        if let ids {
            for id in ids {
                try run("DELETE FROM held WHERE id = ?", [Data(id.bytes)])
                try run("DELETE FROM tie WHERE id = ?", [Data(id.bytes)])
            }
        } else {
            try run("DELETE FROM held")
            try run("DELETE FROM tie")
        }
        for row in held {
            try run(
                "INSERT INTO held (id, t, why, key) VALUES (?, ?, ?, ?)",
                [
                    Data(row.id.bytes), number(of: row.table), row.why.rawValue,
                    row.other.map { Data($0.bytes) },
                ]
            )
        }
        for tie in ties {
            try run(
                "INSERT OR IGNORE INTO tie (other, id, kind) VALUES (?, ?, ?)",
                [Data(tie.other.bytes), Data(tie.id.bytes), tie.kind.rawValue]
            )
        }
    }

    /// Returns why a row is held; `nil` if it is not.
    func held(_ id: RowID) throws -> HeldRow? {
        try row("SELECT t, why, key FROM held WHERE id = ?", [Data(id.bytes)]).flatMap { row in
            guard let why = HeldRow.Why(rawValue: row[1]) else { return nil }
            return HeldRow(
                id: id,
                table: try table(row[0]),
                why: why,
                other: RowID(bytes: row.bytes(2))
            )
        }
    }

    func forEachHeld(_ body: (HeldRow) throws -> Void) throws {
        for row in try rows("SELECT id FROM held") {
            guard let id = RowID(bytes: row.bytes(0)), let held = try held(id) else { continue }
            try body(held)
        }
    }
}
