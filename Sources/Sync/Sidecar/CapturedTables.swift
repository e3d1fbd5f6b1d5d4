internal import Changes
internal import Files
internal import Foundation
internal import GRDB
internal import Stores

/// The tables of the store and their columns at the last capture: the owner of `parked`, and of `seeded` in `tab`.
struct CapturedTables {
    let access: SidecarAccess

    func isSeeded(_ table: TableName) throws -> Bool {
        try access.count("SELECT seeded FROM tab WHERE t = ?", [access.number(of: table)]) != 0
    }

    /// Records that a table was captured.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - nameless: the number of the store's rows that do not sync, since their key is NULL.
    /// - Throws: `SidecarError`.
    func setSeeded(_ table: TableName, nameless: Int = 0) throws {
        let sql = "UPDATE tab SET seeded = 1, nameless = ? WHERE t = ?"
        try access.run(sql, [nameless, access.number(of: table)])
    }

    func tables() throws -> [TableName] {
        try access.rows("SELECT t FROM tab WHERE seeded = 1").map { try access.table($0[0]) }
    }

    /// Forgets the shadow of a table that the schema no longer has, or that the map leaves out; its rows are then
    /// held.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - keepsIDs: whether the table may still have its rows, which `bringBack` then finds again.
    /// - Throws: `SidecarError`.
    func leave(_ table: TableName, keepsIDs: Bool) throws {
        let number = try access.number(of: table)
        try access.run(
            "INSERT OR IGNORE INTO dirty (id) SELECT id FROM shown WHERE t = ?",
            [number]
        )
        try access.run("DELETE FROM parked WHERE t = ?", [number])
        if keepsIDs {
            try access.shadow.forEach(in: table) { try park($0, number) }
        } else {
            try access.run("DELETE FROM key WHERE t = ?", [number])
        }
        try access.shadow.forgetRows(of: table)
        try access.run("UPDATE tab SET seeded = 0 WHERE t = ?", [number])
    }

    private func park(_ row: ShownRow, _ table: Int64) throws {
        try access.perform(
            "INSERT INTO parked (t, h, id, cl, image) VALUES (?, ?, ?, ?, ?)",
            .integer(table),
            .bytes(row.key.bytes),
            .id(row.id),
            .integer(Int64(row.causalLength)),
            .bytes(row.image.bytes)
        )
    }

    /// Returns whether the ids of a table's rows were kept when the map left the table out.
    func hasParked(_ table: TableName) throws -> Bool {
        try access.row("SELECT 1 FROM parked WHERE t = ? LIMIT 1", [access.number(of: table)])
            != nil
    }

    /// Shows a row again as it was when the map left its table out; does nothing if it did not exist then.
    func bringBack(_ key: RowKey, in table: TableName) throws {
        let row = try access.first(
            "SELECT id, cl, image FROM parked WHERE t = ? AND h = ?",
            .integer(access.number(of: table)),
            .bytes(key.bytes)
        ) { row in
            row.id(0).map { id in
                let length = UInt32(truncatingIfNeeded: row.integer(1))
                let image = RowImage(bytes: row.bytes(2))
                return ShownRow(key: key, id: id, causalLength: length, image: image)
            }
        }
        if let row { try access.shadow.show(row, in: table) }
    }

    /// Ends the return of a table, which then counts as one that was there before.
    ///
    /// Rows that are gone keep their keys.
    func endReturn(of table: TableName) throws {
        let number = try access.number(of: table)
        try access.run(
            """
            INSERT OR IGNORE INTO key (t, h, id) SELECT t, h, id FROM parked
            WHERE t = ?1 AND NOT EXISTS (SELECT 1 FROM shown WHERE shown.id = parked.id)
            """,
            [number]
        )
        access.shadow.hasFormerKeysNow = nil
        try access.run("DELETE FROM parked WHERE t = ?", [number])
        try access.run(
            "INSERT OR IGNORE INTO dirty (id) SELECT id FROM shown WHERE t = ?",
            [number]
        )
        try setSeeded(table)
    }

    // MARK: - Columns

    /// Records the store's schema, and returns whether the application has changed it.
    private func keepSchema(_ id: [UInt8]) throws -> Bool {
        let former = try access.bytes("schema")
        if former == id { return false }
        // The content of a shadow depends on the columns.
        try access.shadow.forgetLooks()
        try access.set("schema", bytes: id)
        guard former != nil else { return false }
        // The view depends on them as well: rows that were held may be shown.
        try access.held.wake()
        try access.dirty.mark(.zero)
        return true
    }

    /// Records the meaning of the store's columns.
    ///
    /// - Parameters:
    ///   - id: see `SyncSchema.digest`.
    ///   - tables: the tables that sync.
    ///   - snapshot: the store.
    /// - Returns: the changes since the last capture.
    /// - Throws: `SyncRefusal.renamed`, `SyncRefusal.otherKeys`, `SyncRefusal.otherReference` if a column now names rows of another table, and
    ///   the map does not say so; `SidecarError`.
    func takeSchema(
        _ id: Digest,
        _ tables: [TableMapping],
        _ snapshot: StoreSnapshot
    ) throws -> SchemaChange {
        var change = SchemaChange()
        change.isMigration = try keepSchema(Array(id.bytes.prefix(16)))
        let meanings = ColumnMeanings(tables)
        guard let former = try columns else {
            try keep(meanings)
            return change
        }
        guard former != meanings else { return change }
        let map = try access.membership.map
        try RenameCheck(
            former: former,
            present: meanings,
            map: map,
            access: access,
            snapshot: snapshot
        ).run(tables)
        let rules = SchemaRules(map)
        for table in tables {
            let columns = meanings.changed(since: former, in: table.name)
            if columns.isEmpty { continue }
            for column in table.columns where columns.contains(column.name.description.exact) {
                try check(column, of: table, former, rules)
            }
            change.columns[table.name] = columns
        }
        try keep(meanings)
        return change
    }

    /// The meaning of the store's columns at the last capture; `nil` before the first.
    var columns: ColumnMeanings? {
        get throws {
            try access.bytes("columns").flatMap {
                try? JSONDecoder().decode(ColumnMeanings.self, from: Data($0))
            }
        }
    }

    private func keep(_ meanings: ColumnMeanings) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try access.set("columns", bytes: Array(encoder.encode(meanings)))
    }

    /// Refuses a reference that was added, removed or redirected, unless the map names it.
    ///
    /// Otherwise numbers would be sent that mean other rows elsewhere, or devices with an older application would
    /// hide rows.
    private func check(
        _ column: ColumnMapping,
        of table: TableMapping,
        _ former: ColumnMeanings,
        _ rules: SchemaRules
    ) throws {
        let was = former.parent(of: column.name, in: table.name)
        guard was?.exact != column.parent?.description.exact else { return }
        let name = table.schema.columns[column.place].name
        let isByValue = table.references.contains {
            $0.isByValue && $0.columns.contains(column.name)
        }
        // Older devices would show these values as numbers, so no map can settle it.
        if let was, column.parent == nil, isByValue {
            throw SyncRefusal.otherKeys(parent: was, table: table.schema.name, column: name)
        }
        let rule = rules.tables[table.schema.name.foldedIdentifier]
        guard rule?.references[name.foldedIdentifier] == nil else { return }
        throw SyncRefusal.otherReference(
            table: table.schema.name,
            column: name,
            parent: column.parent?.description,
            was: was
        )
    }
}

extension SidecarAccess {
    var captured: CapturedTables { CapturedTables(access: self) }
}
