internal import Changes
internal import GRDB
internal import Stores

/// Rows of a table that a file brought, and of which nothing was known, by their rowids in `row`.
struct BulkRange {
    var table: TableName
    var rowIDs: ClosedRange<Int64>
}

/// The rows that the store may take as they are, without a view: the owner of `bulk`.
///
/// An intake adds ranges, and the write of the same run ends them. The rows of a range that cannot be taken so are
/// dirty, and the view decides on them.
///
/// | written | the rows of the range that are not dirty |
/// | --- | --- |
/// | 0 | are neither in the shadow nor in the store |
/// | 1 | are in the shadow, and in the store if its transaction was committed |
struct BulkRows {
    let access: SidecarAccess

    func add(_ range: BulkRange) throws {
        try access.perform(
            "INSERT INTO bulk (t, lo, hi) VALUES (?, ?, ?)",
            .integer(access.number(of: range.table)),
            .integer(range.rowIDs.lowerBound),
            .integer(range.rowIDs.upperBound)
        )
    }

    /// Returns the ranges that were not begun.
    func ranges() throws -> [BulkRange] {
        try access.all("SELECT t, lo, hi FROM bulk WHERE written = 0 ORDER BY lo") { row in
            let (low, high) = (row.integer(1), row.integer(2))
            guard low <= high else { throw access.damaged("a range ends before it begins") }
            return BulkRange(table: try access.table(row.integer(0)), rowIDs: low...high)
        }
    }

    /// Leaves the rows of ranges to the view.
    func release(_ ranges: [BulkRange]) throws {
        for range in ranges {
            try access.perform(
                "INSERT OR IGNORE INTO dirty (id) SELECT id FROM row WHERE rowid BETWEEN ? AND ?",
                .integer(range.rowIDs.lowerBound),
                .integer(range.rowIDs.upperBound)
            )
            try end(range)
        }
    }

    /// Leaves the rows of all ranges to the view.
    func releaseAll() throws { try release(ranges()) }

    private func end(_ range: BulkRange) throws {
        try access.perform("DELETE FROM bulk WHERE lo = ?", .integer(range.rowIDs.lowerBound))
    }

    /// Returns the rows of a range that are neither shown nor dirty; those that are shown become dirty.
    func rows(of range: BulkRange) throws -> [KnownRow] {
        let (low, high) = (range.rowIDs.lowerBound, range.rowIDs.upperBound)
        try access.perform(
            """
            INSERT OR IGNORE INTO dirty (id) SELECT id FROM row
            WHERE rowid BETWEEN ? AND ? AND h IS NOT NULL
            """,
            .integer(low),
            .integer(high)
        )
        return try access.states.known(from: low, to: high)
    }

    /// Shows the rows of a range in the shadow, before they are written into the store.
    ///
    /// - Parameters:
    ///   - rows: the rows, in the order of their keys.
    ///   - range: the range.
    ///   - shared: see `Shadow.show`.
    /// - Throws: `SidecarError`.
    func begin(_ rows: [ShownRow], of range: BulkRange, sharing shared: Set<Int64>) throws {
        try access.set("look", nil)
        for row in rows { try access.shadow.show(row, in: range.table, sharing: shared) }
        if let first = rows.first, let last = rows.last {
            try access.shadow.forgetLeaves(from: first.key, to: last.key, of: range.table)
        }
        let low = SidecarValue.integer(range.rowIDs.lowerBound)
        try access.perform("UPDATE bulk SET written = 1 WHERE lo = ?", low)
    }

    /// Ends the range that was written, and has the rows looked at that depend on its rows.
    func settle() throws {
        if try access.held.hasTies {
            try access.run(
                """
                INSERT OR IGNORE INTO altered (id)
                SELECT held.id FROM bulk CROSS JOIN held CROSS JOIN row ON row.id = held.key
                    WHERE written = 1 AND row.rowid BETWEEN lo AND hi
                UNION SELECT tie.id FROM bulk CROSS JOIN tie CROSS JOIN row ON row.id = tie.other
                    WHERE written = 1 AND row.rowid BETWEEN lo AND hi
                """
            )
        }
        try access.run("DELETE FROM bulk WHERE written = 1")
    }

    /// Takes the rows of the range out of the shadow again, since the store does not have them.
    func undo() throws {
        try access.run(
            """
            UPDATE row SET h = NULL, length = NULL, image = NULL
            WHERE rowid IN (SELECT row.rowid FROM bulk CROSS JOIN row WHERE written = 1
                AND row.rowid BETWEEN lo AND hi AND row.id NOT IN (SELECT id FROM dirty))
            """
        )
        try access.run("UPDATE bulk SET written = 0")
    }

    /// Takes rows of the range out of the shadow again, and leaves them to the view.
    func undo(_ intents: [Intent]) throws {
        for intent in intents {
            try access.perform(
                "UPDATE row SET h = NULL, length = NULL, image = NULL WHERE id = ?",
                .id(intent.id)
            )
            try access.dirty.mark(intent.id)
        }
    }

    /// Returns the rows that may be in the store since a run was killed.
    func pending() throws -> [Intent] {
        try access.all(
            """
            SELECT row.id, row.t, cl, clock, device, hint, body, h, length, image
            FROM bulk CROSS JOIN row WHERE written = 1 AND row.rowid BETWEEN lo AND hi
                AND h IS NOT NULL AND row.id NOT IN (SELECT id FROM dirty)
            """
        ) { statement in
            let row = try access.shadow.shown(statement)
            return Intent(
                table: try access.table(statement.integer(1)),
                key: row.key,
                id: row.id,
                causalLength: row.causalLength,
                old: nil,
                new: row.image
            )
        }
    }
}

extension SidecarAccess {
    var bulkRows: BulkRows { BulkRows(access: self) }
}

/// The new rows of a file, as they are joined with the state.
struct BulkIntake {
    /// The least number of rows of a table for which a range is of use.
    let least: Int
    let access: SidecarAccess
    private var range: BulkRange?
    private var count = 0

    init(least: Int, _ access: SidecarAccess) {
        (self.least, self.access) = (least, access)
    }

    /// Takes a row that was just added to the state.
    mutating func take(_ row: KnownRow) throws {
        guard row.isSimple, let rowID = access.states.addedRowID else {
            return try access.dirty.mark(row.id)
        }
        if var range, range.table == row.table, rowID > range.rowIDs.upperBound {
            range.rowIDs = range.rowIDs.lowerBound...rowID
            self.range = range
            count += 1
        } else {
            try finish()
            (range, count) = (BulkRange(table: row.table, rowIDs: rowID...rowID), 1)
        }
    }

    /// Ends the last range.
    mutating func finish() throws {
        guard let range else { return }
        self.range = nil
        try access.bulkRows.add(range)
        if count < least { try access.bulkRows.release([range]) }
    }
}

extension KnownRow {
    /// Whether a store may show it by its cells alone: it was inserted once, and names neither files nor blobs.
    var isSimple: Bool {
        state.causalLength == 1 && state.birth != nil
            && state.cells.allSatisfy { $0.value.reference == nil && $0.column != .same }
    }
}
