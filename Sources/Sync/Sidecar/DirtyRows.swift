internal import Changes
internal import GRDB
internal import Stores

/// The rows to write or to look at again: the owner of `dirty`, `altered`, `refusal` and `temp.look`.
struct DirtyRows {
    let access: SidecarAccess

    func mark(_ id: RowID) throws {
        try access.perform("INSERT OR IGNORE INTO dirty (id) VALUES (?)", .id(id))
    }

    func clean(_ id: RowID) throws { try access.perform("DELETE FROM dirty WHERE id = ?", .id(id)) }

    /// Whether no row is to be written or looked at again, with those in bulk.
    var isEmpty: Bool {
        get throws { try !access.has("SELECT 1 FROM dirty UNION ALL SELECT 1 FROM bulk LIMIT 1") }
    }

    /// The number of rows to be written or looked at again, with those in bulk.
    var count: Int64 {
        get throws {
            try access.count(
                """
                SELECT (SELECT count(*) FROM dirty) + count(*) FROM bulk CROSS JOIN row
                WHERE row.rowid BETWEEN lo AND hi AND row.id NOT IN (SELECT id FROM dirty)
                """
            )
        }
    }

    /// Returns whether changes of a row have arrived that are not written yet.
    func isUnwritten(_ id: RowID) throws -> Bool {
        try access.has("SELECT 1 FROM dirty WHERE id = ?", .id(id))
    }

    func markAltered(_ id: RowID) throws {
        try access.perform("INSERT OR IGNORE INTO altered (id) VALUES (?)", .id(id))
    }

    /// Marks all rows as altered, except new ones in bulk, and forgets all held rows and ties.
    func alterAll() throws {
        try access.held.clear()
        try access.run(
            """
            INSERT OR IGNORE INTO altered (id) SELECT id FROM row
            WHERE h IS NOT NULL OR NOT EXISTS (SELECT 1 FROM bulk WHERE row.rowid BETWEEN lo AND hi)
            """
        )
    }

    /// Orders the next looks so that each has rows that will be near each other in the store.
    ///
    /// It does nothing unless more rows than a number are altered. The order is by table, then by the numbers that rows have elsewhere. Otherwise each look would write pages
    /// all over the store.
    func orderLooks(moreThan count: Int) throws {
        guard try hasAltered(moreThan: count) else { return }
        try access.perform("DELETE FROM temp.look")
        try access.perform(
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
        let ids = try access.all(
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
        try access.perform("DELETE FROM temp.look WHERE n < ?", .integer(first ?? .max))
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
        let ids = try access.all(
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
        try access.has(
            "SELECT 1 FROM dirty WHERE id = ?1 UNION ALL SELECT 1 FROM altered WHERE id = ?1",
            .id(id)
        )
    }

    /// Returns whether more than this number of rows may differ from the last view.
    func hasAltered(moreThan count: Int) throws -> Bool {
        try access.row(
            "SELECT 1 FROM (SELECT id FROM altered UNION ALL SELECT id FROM dirty) LIMIT 1 OFFSET ?",
            [count]
        ) != nil
    }

    /// Whether this run has not yet looked at all rows.
    var isUnfinished: Bool {
        get throws {
            try access.row(
                "SELECT 1 FROM dirty WHERE waits = 0 UNION ALL SELECT 1 FROM altered LIMIT 1"
            ) != nil
        }
    }

    /// Makes a run look again at the rows that waited in the last one.
    func wakeWaiting() throws { try access.run("UPDATE dirty SET waits = 0 WHERE waits = 1") }

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
                try access.perform("DELETE FROM altered WHERE id = ?", .id(id))
            }
        } else {
            try access.run("DELETE FROM dirty")
            try access.run("DELETE FROM altered")
        }
        for id in planned.sorted() {
            try access.perform(
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
        let left: [RowID] = try access.all(
            "SELECT id FROM dirty WHERE waits = 0 UNION ALL SELECT id FROM altered"
        ) { $0.id(0) }
        return left.contains { !planned.contains($0) }
    }

    /// Keeps rows as unwritten, since content that they need is not here.
    func wait(_ ids: some Sequence<RowID>) throws {
        for id in ids {
            try access.perform("INSERT OR REPLACE INTO dirty (id, waits) VALUES (?, 1)", .id(id))
        }
    }

    /// Holds rows that SQLite refuses, with its words, until the next run.
    func refuse(_ rows: [RowID: String]) throws {
        for (id, words) in rows {
            try access.perform(
                "INSERT OR REPLACE INTO refusal (id, words) VALUES (?, ?)",
                .id(id),
                .text(words)
            )
            try mark(id)
        }
    }

    func refusals() throws -> [RowID: String] {
        let found = try access.all("SELECT id, words FROM refusal") { row in
            row.id(0).map { ($0, row.text(1) ?? "") }
        }
        return Dictionary(found) { first, _ in first }
    }

    /// Has rows that were refused tried again.
    func retryRefused() throws {
        try access.run("INSERT OR IGNORE INTO dirty (id) SELECT id FROM refusal")
        try access.run("DELETE FROM refusal")
    }
}

extension SidecarAccess {
    var dirty: DirtyRows { DirtyRows(access: self) }
}
