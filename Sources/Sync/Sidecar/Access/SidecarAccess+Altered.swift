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
        /// Another row stands for it, and the name is one of its unique keys: an older row that gets this
        /// key may stand for it then.
        case competes
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

    /// Has all rows looked at, as if nothing had been.
    func alterAll() throws {
        try run("DELETE FROM held")
        try run("DELETE FROM tie")
        try run("INSERT OR IGNORE INTO altered (id) SELECT id FROM row UNION SELECT id FROM shown")
    }

    /// Returns rows that may not be as the view was, as many as the limit at most (all, if it is below 0);
    /// those that wait come last.
    func altered(limit: Int) throws -> Set<RowID> {
        let rows = try rows(
            """
            SELECT id FROM (SELECT id FROM dirty WHERE waits = 0 UNION ALL SELECT id FROM altered
                UNION ALL SELECT id FROM dirty WHERE waits = 1) LIMIT ?
            """,
            [limit]
        )
        return Set(rows.compactMap { RowID(bytes: $0.bytes(0)) }.filter { !$0.isZero })
    }

    /// Whether a row may not be as the view was.
    func isAltered(_ id: RowID) throws -> Bool {
        try row(
            "SELECT 1 FROM altered WHERE id = ?1 UNION ALL SELECT 1 FROM dirty WHERE id = ?1",
            [Data(id.bytes)]
        ) != nil
    }

    /// Returns the rows whose place in the view depends on the order in which rows were tried.
    func late() throws -> [RowID] {
        try rows("SELECT id FROM held WHERE key = ?", [Data(RowID.zero.bytes)])
            .compactMap { RowID(bytes: $0.bytes(0)) }
    }

    /// Whether more rows than so many may not be as the view was.
    func hasAltered(moreThan count: Int) throws -> Bool {
        try row(
            "SELECT 1 FROM (SELECT id FROM altered UNION ALL SELECT id FROM dirty) LIMIT 1 OFFSET ?",
            [count]
        ) != nil
    }

    /// Whether rows are left that this run has not looked at.
    var isUnfinished: Bool {
        get throws {
            try row(
                "SELECT 1 FROM dirty WHERE waits = 0 UNION ALL SELECT 1 FROM altered LIMIT 1"
            ) != nil
        }
    }

    /// Whether nothing is known of any row.
    var isBlank: Bool { get throws { try row("SELECT 1 FROM row LIMIT 1") == nil } }

    /// Has a run look at rows again that waited in the last one.
    func wakeWaiting() throws { try run("UPDATE dirty SET waits = 0 WHERE waits = 1") }

    /// Takes rows as looked at; all, if none are given.
    func looked(at ids: Set<RowID>?) throws {
        guard let ids else {
            try run("DELETE FROM dirty")
            return try run("DELETE FROM altered")
        }
        for id in ids {
            try run("DELETE FROM dirty WHERE id = ?", [Data(id.bytes)])
            try run("DELETE FROM altered WHERE id = ?", [Data(id.bytes)])
        }
        try run("DELETE FROM dirty WHERE id = ?", [Data(RowID.zero.bytes)])
    }

    /// Keeps rows as not written, since what they need is not here.
    func wait(_ ids: some Sequence<RowID>) throws {
        for id in ids {
            try run("INSERT OR REPLACE INTO dirty (id, waits) VALUES (?, 1)", [Data(id.bytes)])
        }
    }

    /// Returns how many rows of a table were deleted elsewhere and are shown.
    func deletions(in table: TableName) throws -> Int64 {
        try count(
            """
            SELECT count(*) FROM shown s JOIN row r ON r.id = s.id WHERE s.t = ? AND r.cl % 2 = 0
            """,
            [number(of: table)]
        )
    }

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

    /// Whether another row stands for any since it has a unique key of it.
    var hasCompetitors: Bool {
        get throws {
            try row("SELECT 1 FROM tie WHERE kind = ? LIMIT 1", [RowTie.Kind.competes.rawValue])
                != nil
        }
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
