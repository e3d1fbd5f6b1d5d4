internal import Changes
internal import Foundation
internal import GRDB

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

// The rows whose view must be computed again.
extension SidecarAccess {
    func markAltered(_ id: RowID) throws {
        try perform("INSERT OR IGNORE INTO altered (id) VALUES (?)", .id(id))
    }

    /// Marks all rows as altered, and forgets all held rows and ties.
    func alterAll() throws {
        try run("DELETE FROM held")
        try run("DELETE FROM tie")
        try run("DELETE FROM emptied")
        hasTiesNow = nil
        try run("INSERT OR IGNORE INTO altered (id) SELECT id FROM row UNION SELECT id FROM shown")
    }

    /// Orders the next looks so that each has rows that will be near each other in the store.
    ///
    /// The order is by table, then by the numbers that rows have elsewhere. Otherwise each look would write pages
    /// all over the store.
    func orderLooks() throws {
        try perform("DELETE FROM temp.look")
        try perform(
            """
            INSERT INTO temp.look (id) SELECT dirty.id FROM dirty LEFT JOIN row ON row.id = dirty.id
            WHERE dirty.waits = 0 ORDER BY row.t, hint_number(row.hint)
            """
        )
    }

    /// Returns the first ordered rows that are left; none once all are written, or wait.
    ///
    /// Rows that were planned and not written are returned again.
    private func nextLook(limit: Int) throws -> Set<RowID> {
        var first: Int64?
        let ids = try all(
            """
            SELECT id, n FROM temp.look
            WHERE EXISTS (SELECT 1 FROM dirty WHERE dirty.id = look.id AND waits = 0)
                OR EXISTS (SELECT 1 FROM altered WHERE altered.id = look.id)
            ORDER BY n LIMIT ?
            """,
            .integer(Int64(limit))
        ) {
            first = first ?? $0.integer(1)
            return $0.id(0)
        }
        try perform("DELETE FROM temp.look WHERE n < ?", .integer(first ?? .max))
        return Set(ids.filter { !$0.isZero })
    }

    /// Returns rows that may differ from the last view, up to the limit: ordered rows first, waiting rows last.
    func altered(limit: Int) throws -> Set<RowID> {
        let next = try nextLook(limit: limit)
        return next.isEmpty ? try anyAltered(limit: limit) : next
    }

    /// Returns all rows that may differ from the last view.
    func altered() throws -> Set<RowID> { try anyAltered(limit: -1) }

    private func anyAltered(limit: Int) throws -> Set<RowID> {
        let ids = try all(
            """
            SELECT id FROM (SELECT id FROM dirty WHERE waits = 0 UNION ALL SELECT id FROM altered
                UNION ALL SELECT id FROM dirty WHERE waits = 1) LIMIT ?
            """,
            .integer(Int64(limit))
        ) { $0.id(0) }
        return Set(ids.filter { !$0.isZero })
    }

    /// Returns whether a row may differ from the last view.
    func isAltered(_ id: RowID) throws -> Bool {
        try has(
            "SELECT 1 FROM dirty WHERE id = ?1 UNION ALL SELECT 1 FROM altered WHERE id = ?1",
            .id(id)
        )
    }

    /// Returns the rows whose place in the view depends on the order in which rows were tried.
    func late() throws -> [RowID] {
        try rows("SELECT id FROM held WHERE key = ?", [Data(RowID.zero.bytes)])
            .compactMap { RowID(bytes: $0.bytes(0)) }
    }

    /// Returns whether more than this number of rows may differ from the last view.
    func hasAltered(moreThan count: Int) throws -> Bool {
        try row(
            "SELECT 1 FROM (SELECT id FROM altered UNION ALL SELECT id FROM dirty) LIMIT 1 OFFSET ?",
            [count]
        ) != nil
    }

    /// Whether this run has not yet looked at all rows.
    var isUnfinished: Bool {
        get throws {
            try row(
                "SELECT 1 FROM dirty WHERE waits = 0 UNION ALL SELECT 1 FROM altered LIMIT 1"
            ) != nil
        }
    }

    /// Makes a run look again at the rows that waited in the last one.
    func wakeWaiting() throws { try run("UPDATE dirty SET waits = 0 WHERE waits = 1") }

    /// Records that rows were looked at, or all rows if `ids` is `nil`.
    ///
    /// - Parameters:
    ///   - ids: the rows.
    ///   - planned: the rows among them that are about to be written, and stay dirty until then.
    /// - Throws: `SidecarError`.
    func looked(at ids: Set<RowID>?, planned: Set<RowID>) throws {
        if let ids {
            for id in ids.union([.zero]).sorted() {
                if !planned.contains(id) { try clean(id) }
                try perform("DELETE FROM altered WHERE id = ?", .id(id))
            }
        } else {
            try run("DELETE FROM dirty")
            try run("DELETE FROM altered")
        }
        for id in planned.sorted() {
            try perform(
                """
                INSERT INTO dirty (id) VALUES (?)
                ON CONFLICT (id) DO UPDATE SET waits = 0 WHERE waits <> 0
                """,
                .id(id)
            )
        }
    }

    /// Returns whether this run has not yet looked at rows other than the planned ones.
    func isUnfinished(but planned: Set<RowID>) throws -> Bool {
        let left: [RowID] = try all(
            "SELECT id FROM dirty WHERE waits = 0 UNION ALL SELECT id FROM altered"
        ) {
            $0.id(0)
        }
        return left.contains { !planned.contains($0) }
    }

    /// Keeps rows as unwritten, since content that they need is not here.
    func wait(_ ids: some Sequence<RowID>) throws {
        for id in ids {
            try perform("INSERT OR REPLACE INTO dirty (id, waits) VALUES (?, 1)", .id(id))
        }
    }

    /// Whether any row is not shown, or not as its state has it.
    var hasTies: Bool {
        get throws {
            if let hasTiesNow { return hasTiesNow }
            let has = try has("SELECT 1 FROM held UNION ALL SELECT 1 FROM tie LIMIT 1")
            hasTiesNow = has
            return has
        }
    }

    /// Returns the rows that may be shown differently once a row, or a name, changes.
    func dependants(on other: RowID) throws -> [RowID] {
        guard try hasTies else { return [] }
        return try all(
            "SELECT id FROM tie WHERE other = ?1 UNION SELECT id FROM held WHERE key = ?1",
            .id(other)
        ) { $0.id(0) }
    }

    /// Whether any row has a stand-in because of a unique key.
    var hasCompetitors: Bool {
        get throws {
            try row("SELECT 1 FROM tie WHERE kind = ? LIMIT 1", [RowTie.Kind.competes.rawValue])
                != nil
        }
    }

    /// Returns the names that a row had at the last view, and that the store does not show.
    func names(of id: RowID) throws -> [RowID] {
        try rows(
            "SELECT other FROM tie WHERE id = ? AND kind = ?",
            [Data(id.bytes), RowTie.Kind.isCalled.rawValue]
        ).compactMap { RowID(bytes: $0.bytes(0)) }
    }

    /// Returns the rows that have a name without showing it.
    func rows(called name: RowID) throws -> [RowID] {
        try rows(
            "SELECT id FROM tie WHERE other = ? AND kind = ?",
            [Data(name.bytes), RowTie.Kind.isCalled.rawValue]
        ).compactMap { RowID(bytes: $0.bytes(0)) }
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
                try perform("DELETE FROM held WHERE id = ?", .id(id))
                try perform("DELETE FROM tie WHERE id = ?", .id(id))
                // An empty reference is a tie as well.
                try perform("DELETE FROM emptied WHERE id = ?", .id(id))
            }
        } else {
            try run("DELETE FROM held")
            try run("DELETE FROM tie")
            try run("DELETE FROM emptied")
        }
        hasTiesNow = nil
        for (id, columns) in emptied {
            for column in columns {
                try perform(
                    "INSERT OR IGNORE INTO emptied (id, c) VALUES (?, ?)",
                    .id(id),
                    .integer(number(of: column))
                )
            }
        }
        for row in held {
            try perform(
                "INSERT INTO held (id, t, why, key, words) VALUES (?, ?, ?, ?, ?)",
                .id(row.id),
                .integer(number(of: row.table)),
                .text(row.why.rawValue),
                .optional(row.other),
                row.words.map { .text($0) } ?? .null
            )
        }
        for tie in ties {
            try perform(
                "INSERT OR IGNORE INTO tie (other, id, kind) VALUES (?, ?, ?)",
                .id(tie.other),
                .id(tie.id),
                .integer(tie.kind.rawValue)
            )
        }
    }

    /// Returns the record of a held row; `nil` if the row is not held.
    func held(_ id: RowID) throws -> HeldRow? {
        guard try hasTies else { return nil }
        return try first("SELECT t, why, key FROM held WHERE id = ?", .id(id)) { row in
            guard let why = HeldRow.Why(rawValue: row.text(1)) else { return nil }
            return HeldRow(
                id: id,
                table: try table(row.integer(0)),
                why: why,
                other: row.id(2)
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
