internal import CSQLite
internal import Files

extension StoreSchema {
    /// Reads the schema of a connection's database (`sqlite3 *`).
    ///
    /// - Parameters:
    ///   - database: the connection.
    ///   - name: the store's name in messages.
    /// - Throws: `StoreError`.
    public init(of database: OpaquePointer, name: String) throws {
        let reader = try SchemaReader(database: database, name: name)
        version = try reader.pragma("schema_version") { $0.integer(0) } ?? 0
        encoding = try reader.pragma("encoding") { $0.text(0) ?? "" } ?? "UTF-8"
        tables = try reader.tables()
    }
}

/// A reader of SQLite's information on tables (https://www.sqlite.org/pragma.html#pragfunc).
private struct SchemaReader {
    let database: OpaquePointer
    let name: String
    /// The statements of the indexes that have one, by name.
    private var indexes: [ExactString: String] = [:]
    /// The triggers in the order of their names, by the table's folded name.
    private var triggers: [ExactString: [TriggerSchema]] = [:]

    /// Reads the indexes and the triggers of all tables: for each table by itself, the time would grow with their square.
    init(database: OpaquePointer, name: String) throws {
        (self.database, self.name) = (database, name)
        let sql = """
            SELECT type, name, tbl_name, sql FROM main.sqlite_schema
            WHERE type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY name COLLATE BINARY
            """
        for (type, part, table, sql) in try rows(
            sql,
            nil,
            { row in
                (row.text(0), row.text(1) ?? "", row.text(2) ?? "", row.text(3) ?? "")
            }
        ) {
            if type == "index" {
                indexes[part.exact] = sql
            } else {
                triggers[table.foldedIdentifier, default: []].append(.init(name: part, sql: sql))
            }
        }
    }

    /// A row of the schema table.
    private struct Entry {
        var rootPage: Int64
        var sql: String
    }

    func pragma<Value>(_ pragma: String, _ read: (Statement) -> Value) throws -> Value? {
        let statement = try Statement(database, name: name, "PRAGMA main.\(pragma)")
        return try statement.step() ? read(statement) : nil
    }

    /// Runs a query of one argument, and reads each row.
    private func rows<Value>(
        _ sql: String,
        _ argument: String? = nil,
        _ read: (Statement) throws -> Value
    ) throws -> [Value] {
        let statement = try Statement(database, name: name, sql)
        if let argument { try statement.bind(argument, at: 1) }
        var values: [Value] = []
        while try statement.step() { values.append(try read(statement)) }
        return values
    }

    func tables() throws -> [TableSchema] {
        let found = try rows(
            """
            SELECT l.name, l.type, l.wr, l.strict, m.rootpage, m.sql
            FROM pragma_table_list AS l JOIN main.sqlite_schema AS m
            ON m.name = l.name AND m.type IN ('table', 'view')
            WHERE l.schema = 'main' AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            ORDER BY l.name COLLATE BINARY
            """
        ) { row in
            (
                name: row.text(0) ?? "", type: row.text(1) ?? "",
                isWithoutRowID: row.integer(2) != 0, isStrict: row.integer(3) != 0,
                entry: Entry(rootPage: row.integer(4), sql: row.text(5) ?? "")
            )
        }
        var strange: [String] = []
        for table in found where table.type == "virtual" {
            // A missing module cannot name its shadow tables, so these are found by their names below.
            if (try? columnRows(of: table.name)) == nil { strange.append(table.name) }
        }
        return try found.map { table in
            var kind = TableSchema.Kind(rawValue: table.type) ?? .table
            if kind == .table, Self.isPart(table.name, of: strange) { kind = .shadow }
            return try self.table(
                table.name,
                kind,
                isStrict: table.isStrict,
                isWithoutRowID: table.isWithoutRowID,
                table.entry
            )
        }
    }

    /// Returns whether a table's name consists of a virtual table's name, an underscore, and more.
    private static func isPart(_ name: String, of virtual: [String]) -> Bool {
        virtual.contains { name.foldedIdentifier.hasPrefix("\($0)_".foldedIdentifier) }
    }

    private func table(
        _ table: String,
        _ kind: TableSchema.Kind,
        isStrict: Bool,
        isWithoutRowID: Bool,
        _ entry: Entry
    ) throws -> TableSchema {
        try SchemaText.check(entry.sql, of: kind == .view ? .view : .table, table, in: name)
        let isReal = kind == .table || kind == .shadow
        let found = try isReal ? columnRows(of: table) : (try? columnRows(of: table)) ?? []
        var isAutoincrement = false
        let columns = found.map { row in
            let facts = isReal ? self.facts(of: row.name, in: table) : Facts()
            if facts.isAutoincrement { isAutoincrement = true }
            return ColumnSchema(
                name: row.name,
                declaredType: row.type,
                affinity: .init(declaredType: row.type, isStrict: isStrict),
                collation: facts.collation,
                isNotNull: row.isNotNull,
                defaultValue: row.kind == .stored
                    ? .init(row.defaultText, type: row.type, isStrict: isStrict)
                    : .constant(.null),
                kind: row.kind
            )
        }
        let key = found.indices.filter { found[$0].keyPlace > 0 }
            .sorted { found[$0].keyPlace < found[$1].keyPlace }
        let indexes = isReal ? try self.indexes(of: table) : []
        // SQLite creates no index for a key that is the rowid itself.
        let isAlias =
            isReal && !isWithoutRowID && key.count == 1
            && !indexes.contains { $0.origin == .primaryKey }
        return TableSchema(
            name: table,
            kind: kind,
            isStrict: isStrict,
            isWithoutRowID: isWithoutRowID,
            isAutoincrement: isAutoincrement,
            rootPage: entry.rootPage,
            sql: entry.sql,
            columns: columns,
            primaryKey: key,
            rowIDAlias: isAlias ? key.first : nil,
            indexes: indexes,
            references: isReal ? try references(of: table, columns) : [],
            triggers: try triggers(of: table)
        )
    }

    // MARK: - Columns

    private struct ColumnRow {
        var name: String
        var type: String
        var isNotNull: Bool
        var defaultText: String?
        var keyPlace: Int64
        var kind: ColumnSchema.Kind
    }

    private func columnRows(of table: String) throws -> [ColumnRow] {
        try rows(
            "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1)",
            table
        ) { row in
            ColumnRow(
                name: row.text(0) ?? "",
                type: row.text(1) ?? "",
                isNotNull: row.integer(2) != 0,
                defaultText: row.text(3),
                keyPlace: row.integer(4),
                kind: ColumnSchema.Kind(rawValue: Int(row.integer(5))) ?? .hidden
            )
        }
    }

    private struct Facts {
        var collation = "BINARY"
        var isAutoincrement = false
    }

    /// Reads the facts that only the C interface reports (https://www.sqlite.org/c3ref/table_column_metadata.html).
    private func facts(of column: String, in table: String) -> Facts {
        var collation: UnsafePointer<CChar>?
        var isAutoincrement: CInt = 0
        let code = sqlite3_table_column_metadata(
            database,
            "main",
            table,
            column,
            nil,
            &collation,
            nil,
            nil,
            &isAutoincrement
        )
        guard code == SQLITE_OK, let collation else { return Facts() }
        return Facts(
            collation: String(cString: collation),
            isAutoincrement: isAutoincrement != 0
        )
    }

    // MARK: - Indexes, references and triggers

    private func indexes(of table: String) throws -> [IndexSchema] {
        let list = try rows(
            """
            SELECT name, "unique", origin, partial FROM pragma_index_list(?1)
            ORDER BY name COLLATE BINARY
            """,
            table
        ) { row in
            (
                row.text(0) ?? "", row.integer(1) != 0, row.text(2) ?? "", row.integer(3) != 0
            )
        }
        return try list.map { name, isUnique, origin, isPartial in
            let sql = indexes[name.exact]
            if let sql { try SchemaText.check(sql, of: .index, name, in: self.name) }
            return IndexSchema(
                name: name,
                isUnique: isUnique,
                isPartial: isPartial,
                origin: IndexSchema.Origin(rawValue: origin) ?? .statement,
                keys: try keys(of: name),
                sql: sql
            )
        }
    }

    private func keys(of index: String) throws -> [IndexSchema.Key] {
        let sql = "SELECT cid, coll, desc FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno"
        return try rows(sql, index) { row in
            IndexSchema.Key(
                column: row.integer(0) >= 0 ? Int(row.integer(0)) : nil,
                isExpression: row.integer(0) == -2,
                collation: row.text(1) ?? "BINARY",
                isDescending: row.integer(2) != 0
            )
        }
    }

    private func references(
        of table: String,
        _ columns: [ColumnSchema]
    ) throws -> [ReferenceSchema] {
        let sql = """
            SELECT id, "from", "table", "to", on_update, on_delete
            FROM pragma_foreign_key_list(?1) ORDER BY id, seq
            """
        let found = try rows(sql, table) { row in
            (
                row.integer(0), row.text(1) ?? "", row.text(2) ?? "", row.text(3),
                row.text(4) ?? "", row.text(5) ?? ""
            )
        }
        let places = Dictionary(
            zip(columns.map(\.name.foldedIdentifier), columns.indices),
            uniquingKeysWith: { first, _ in first }
        )
        return Dictionary(grouping: found, by: \.0).sorted { $0.key < $1.key }.map { _, parts in
            let parentColumns = parts.compactMap(\.3)
            return ReferenceSchema(
                columns: parts.compactMap { places[$0.1.foldedIdentifier] },
                parent: parts[0].2,
                parentColumns: parentColumns.count == parts.count ? parentColumns : nil,
                onUpdate: .init(rawValue: parts[0].4) ?? .none,
                onDelete: .init(rawValue: parts[0].5) ?? .none
            )
        }
    }

    private func triggers(of table: String) throws -> [TriggerSchema] {
        let found = triggers[table.foldedIdentifier] ?? []
        for trigger in found {
            try SchemaText.check(trigger.sql, of: .trigger, trigger.name, in: name)
        }
        return found
    }
}

extension ColumnSchema.Affinity {
    /// Finds the affinity of a type (https://www.sqlite.org/datatype3.html, 3.1).
    init(declaredType: String, isStrict: Bool) {
        let type = declaredType.uppercased()
        self =
            if isStrict, type == "ANY" {
                .blob
            } else if type.contains("INT") {
                .integer
            } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
                .text
            } else if type.isEmpty || type.contains("BLOB") {
                .blob
            } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
                .real
            } else {
                .numeric
            }
    }
}
