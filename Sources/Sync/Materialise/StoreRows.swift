internal import CSQLite
internal import Changes
internal import Files
internal import Stores

/// The rows of a store by their keys, one at a time, within a transaction of a connection that may write.
struct StoreRows {
    private let handle: OpaquePointer
    private let name: String
    private let numbers: [TableName: [Int64]]
    private let statements: Statements

    /// A stored column, by its index among these, with its new value.
    typealias Change = (index: Int, value: StoredValue)

    /// The key of a statement that is prepared once for all rows with the same columns to read or write.
    private struct Shape: Hashable {
        enum Verb { case read, delete, update, park, insert }

        let verb: Verb
        let table: TableName
        /// The indices among the stored columns.
        var columns: [Int] = []
    }

    private final class Statements {
        var prepared: [Shape: Statement] = [:]
        /// The statements on tables that do not sync, by their texts.
        var others: [String: Statement] = [:]
    }

    init(_ handle: OpaquePointer, name: String, _ numbers: [TableName: [Int64]]) {
        self.handle = handle
        self.name = name
        self.numbers = numbers
        statements = Statements()
    }

    private func prepared(_ shape: Shape, _ sql: () -> String) throws -> Statement {
        if let prepared = statements.prepared[shape] {
            prepared.reset()
            return prepared
        }
        let prepared = try Statement(handle, name: name, sql())
        statements.prepared[shape] = prepared
        return prepared
    }

    // MARK: - Reading

    /// Returns the number that SQLite changes with each change of the schema.
    func schemaVersion() throws -> Int64 {
        let statement = try Statement(handle, name: name, "PRAGMA main.schema_version")
        return try statement.step() ? statement.integer(0) : -1
    }

    /// Returns the image of a step's row as it is now; `nil` if there is no row.
    func image(of step: WritePlan.Step) throws -> RowImage? {
        guard let values = try read(step), let numbers = numbers[step.table.name] else {
            return nil
        }
        return step.table.image(values, numbers)
    }

    /// Returns the stored columns of a step's row.
    func values(of step: WritePlan.Step) throws -> [StoredValue] {
        guard let values = try read(step) else {
            throw StoreError.unreadable(
                name,
                reason: "a row of '\(step.table.schema.name)' is gone"
            )
        }
        return values
    }

    private func read(_ step: WritePlan.Step) throws -> [StoredValue]? {
        let schema = step.table.schema
        let stored = step.table.storedColumns
        let selection = try prepared(Shape(verb: .read, table: step.table.name)) {
            let columns = stored.map { schema.columns[$0].name.sqlIdentifier }
            return """
                SELECT \(columns.joined(separator: ", ")) FROM main.\(schema.name.sqlIdentifier)
                WHERE \(schema.keyCondition)
                """
        }
        try selection.bind(step.key.values)
        defer { selection.reset() }
        guard try selection.step() else { return nil }
        return stored.indices.map { selection.value(CInt($0)) }
    }

    // MARK: - Writing

    /// Deletes a row.
    ///
    /// - Returns: SQLite's words if a trigger refuses that.
    func delete(_ step: WritePlan.Step) throws -> String? {
        let schema = step.table.schema
        let deletion = try prepared(Shape(verb: .delete, table: step.table.name)) {
            "DELETE FROM main.\(schema.name.sqlIdentifier) WHERE \(schema.keyCondition)"
        }
        try deletion.bind(step.key.values)
        return try run(deletion)
    }

    /// Changes columns; ABORT overrides the conflict clause of a constraint.
    ///
    /// - Parameters:
    ///   - step: the row.
    ///   - changes: the columns with their values.
    ///   - isForNow: whether the row gets other values in the same transaction, so that this is no version of it.
    /// - Returns: SQLite's words if it refuses the row.
    /// - Throws: `StoreError`.
    func update(
        _ step: WritePlan.Step,
        _ changes: [Change],
        isForNow: Bool = false
    ) throws -> String? {
        guard !changes.isEmpty else { return nil }
        let schema = step.table.schema
        let shape = Shape(
            verb: isForNow ? .park : .update,
            table: step.table.name,
            columns: changes.map(\.index)
        )
        let update = try prepared(shape) {
            let stored = schema.storedColumns
            var list = changes.map { "\(schema.columns[stored[$0.index]].name.sqlIdentifier) = ?" }
            if !isForNow, let version = step.table.version {
                list.append("\(version) = ifnull(\(version), 0) + 1")
            }
            return """
                UPDATE OR ABORT main.\(schema.name.sqlIdentifier) SET \(list.joined(separator: ", "))
                WHERE \(schema.keyCondition)
                """
        }
        try update.bind(changes.map(\.value) + step.key.values)
        return try run(update)
    }

    /// Whether SQLite has refused the last row because another one has its key.
    var isKeyTaken: Bool { Statement.isKeyTaken(in: handle) }

    /// Inserts a row; columns without a value get the schema's default.
    ///
    /// - Returns: SQLite's words if it refuses the row.
    func insert(_ step: WritePlan.Step, _ values: [StoredValue?]) throws -> String? {
        let schema = step.table.schema
        let values = step.table.withNextVersion(values)
        let given = values.indices.filter { values[$0] != nil }
        let shape = Shape(verb: .insert, table: step.table.name, columns: given)
        let insertion = try prepared(shape) {
            let stored = schema.storedColumns
            var list = given.map { schema.columns[stored[$0]].name.sqlIdentifier }
            if let hidden = schema.hiddenRowID { list.append(hidden) }
            let marks = list.map { _ in "?" }.joined(separator: ", ")
            return """
                INSERT OR ABORT INTO main.\(schema.name.sqlIdentifier)
                (\(list.joined(separator: ", "))) VALUES (\(marks))
                """
        }
        try insertion.bind(given.map { values[$0] ?? .null })
        if schema.hiddenRowID != nil { try insertion.bind(step.key.values, from: given.count + 1) }
        return try run(insertion)
    }

    /// Sets columns of the row of a table at a key.
    ///
    /// - Returns: SQLite's words if it refuses the row.
    func set(
        _ values: [(name: String, value: StoredValue)],
        of table: TableSchema,
        at key: RowKey
    ) throws -> String? {
        if values.isEmpty { return nil }
        let list = values.map { "\($0.name.sqlIdentifier) = ?" }.joined(separator: ", ")
        return try run(
            "UPDATE OR ABORT main.\(table.name.sqlIdentifier) SET \(list) WHERE \(table.keyCondition)",
            values.map(\.value) + key.values
        )
    }

    /// Deletes the row of a table at a key.
    ///
    /// - Returns: SQLite's words if it refuses that.
    func delete(_ table: TableSchema, at key: RowKey) throws -> String? {
        try run(
            "DELETE FROM main.\(table.name.sqlIdentifier) WHERE \(table.keyCondition)",
            key.values
        )
    }

    /// Adds a row to a table.
    ///
    /// - Returns: SQLite's words if it refuses the row.
    func add(
        _ values: [(name: String, value: StoredValue)],
        to table: TableSchema
    ) throws -> String? {
        let list = values.map(\.name.sqlIdentifier).joined(separator: ", ")
        let marks = values.map { _ in "?" }.joined(separator: ", ")
        return try run(
            "INSERT OR ABORT INTO main.\(table.name.sqlIdentifier) (\(list)) VALUES (\(marks))",
            values.map(\.value)
        )
    }

    /// Runs a statement on a table that does not sync, and that may need what only the application has.
    private func run(_ sql: String, _ values: [StoredValue]) throws -> String? {
        let statement: Statement
        do {
            statement = try statements.others[sql] ?? Statement(handle, name: name, sql)
            statements.others[sql] = statement
        } catch let error as StoreError {
            guard sqlite3_errcode(handle) & 0xFF == SQLITE_ERROR else { throw error }
            return String(cString: sqlite3_errmsg(handle))
        }
        try statement.bind(values)
        return try run(statement)
    }

    /// The number of the row that was added last.
    var lastNumber: Int64 { sqlite3_last_insert_rowid(handle) }

    private func run(_ statement: Statement) throws -> String? {
        let code = sqlite3_step(statement.pointer)
        let words = String(cString: sqlite3_errmsg(handle))
        statement.reset()
        switch code & 0xFF {
        case SQLITE_DONE: return nil
        case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_ERROR: return words
        default: throw StoreError(name, code: code, of: handle)
        }
    }
}

extension StoreRows {
    /// Returns the rows of steps with a reference that names no row, and the reason in words.
    func orphans(
        among steps: [WritePlan.Step],
        of table: TableMapping,
        in schema: SyncSchema
    ) throws -> [RowID: String] {
        guard !steps.isEmpty, let described = schema.table(table.schema.name) else { return [:] }
        var found: [RowID: String] = [:]
        for reference in described.references {
            guard let parent = schema.table(reference.parent) else { continue }
            let child = table.schema.name.sqlIdentifier
            let columns = reference.columns.map { table.schema.columns[$0].name.sqlIdentifier }
            let targets = reference.parentColumns.map {
                parent.schema.columns[$0].name.sqlIdentifier
            }
            let match = zip(columns, targets).map { "p.\($1) = c.\($0)" }.joined(separator: " AND ")
            let isSet = columns.map { "c.\($0) IS NOT NULL" }.joined(separator: " AND ")
            let orphan = try Statement(
                handle,
                name: name,
                """
                SELECT 1 FROM main.\(child) c WHERE \(table.schema.keyCondition(of: "c")) AND \(isSet)
                AND NOT EXISTS (SELECT 1 FROM main.\(parent.name.sqlIdentifier) p WHERE \(match))
                """
            )
            for step in steps where step.plain.isDisjoint(with: reference.columns) {
                orphan.reset()
                try orphan.bind(step.key.values)
                if try orphan.step() {
                    let column = table.schema.columns[reference.columns[0]].name
                    found[step.id] = "its '\(column)' names a row that is not in the store"
                }
                orphan.reset()
            }
        }
        return found
    }

    /// Looks for rows that refer to rows that are gone, and not to another row with the same values.
    ///
    /// - Parameters:
    ///   - gone: the rows that are gone.
    ///   - renamed: the rows that keep their numbers, as they were.
    ///   - table: their table.
    ///   - schema: all tables.
    ///   - refers: a closure that returns whether a row's value was meant as a reference.
    /// - Returns: the rows among them to which others refer, and the reason in words.
    /// - Throws: `StoreError`.
    func parents(
        among gone: [StoreWrite.Former],
        _ renamed: [StoreWrite.Former],
        of table: TableMapping,
        in schema: SyncSchema,
        _ refers: StoreWrite.Refers
    ) throws -> [RowID: String] {
        guard !gone.isEmpty || !renamed.isEmpty else { return [:] }
        var found: [RowID: String] = [:]
        let stored = table.schema.storedColumns
        for child in schema.tables {
            for reference in child.references
            where reference.parent == table.schema.name.foldedIdentifier {
                let places = reference.parentColumns.compactMap(stored.firstIndex)
                guard places.count == reference.columns.count else { continue }
                let columns = reference.columns.map { child.schema.columns[$0].name.sqlIdentifier }
                let isNumber = reference.parentColumns == [table.schema.rowIDAlias]
                let former = isNumber ? gone : gone + renamed
                if former.isEmpty { continue }
                let keys = former.map { row in places.map { row.values[$0] } }
                let targets = reference.parentColumns.map {
                    table.schema.columns[$0].name.sqlIdentifier
                }
                let match = zip(columns, targets).map { "p.\($1) = c.\($0)" }
                    .joined(separator: " AND ")
                let isOrphan = """
                    NOT EXISTS (SELECT 1 FROM main.\(table.schema.name.sqlIdentifier) p WHERE \(match))
                    """
                let types = reference.parentColumns.map { table.schema.columns[$0].keyType }
                let orphans = try rows(of: child.schema, with: columns, in: keys, isOrphan, types)
                for orphan in orphans where try refers(child, orphan.row, reference) {
                    found[former[orphan.key].id] = "rows of '\(child.schema.name)' refer to it"
                }
            }
        }
        return found
    }

    /// Returns the keys of the rows that refer to rows of another table, as SQLite compares them, with the indexes of
    /// these.
    ///
    /// - Parameters:
    ///   - named: the values of the columns that the reference names; a row with NULL there is named by none.
    ///   - parent: their table.
    ///   - reference: the reference.
    /// - Returns: the keys with the indexes.
    /// - Throws: `StoreError`.
    func rows(
        naming named: [[StoredValue]],
        of parent: TableSchema,
        by reference: OutsideReference
    ) throws -> [(row: RowKey, key: Int)] {
        let columns = reference.columns.map { reference.table.columns[$0].name.sqlIdentifier }
        let types = reference.parentColumns.map { parent.columns[$0].keyType }
        return try rows(of: reference.table, with: columns, in: named, "1", types)
    }

    /// Returns the keys of a table's rows that meet a condition, and whose columns have one of several lists of
    /// values, with the index of the list.
    private func rows(
        of table: TableSchema,
        with columns: [String],
        in keys: [[StoredValue]],
        _ condition: String,
        _ types: [String]
    ) throws -> [(row: RowKey, key: Int)] {
        // This takes at most one scan, whatever the number of keys, with or without an index.
        let names = columns.indices.map { "k\($0)" }
        let definitions = zip(names, types).map { "\($0) \($1)" }.joined(separator: ", ")
        try execute("DROP TABLE IF EXISTS temp.gone_keys")
        try execute("CREATE TEMP TABLE gone_keys (\(definitions))")
        try execute("CREATE INDEX temp.gone_key ON gone_keys (\(names.joined(separator: ", ")))")
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        let insertion = try Statement(
            handle,
            name: name,
            "INSERT INTO temp.gone_keys VALUES (\(marks))"
        )
        for key in keys {
            insertion.reset()
            try insertion.bind(key.count == names.count ? key : names.map { _ in .null })
            _ = try insertion.step()
        }
        insertion.reset()
        let match = zip(columns, names).map { "g.\($1) = c.\($0)" }.joined(separator: " AND ")
        let search = try Statement(
            handle,
            name: name,
            """
            SELECT \(table.localKeyList), (SELECT min(g.rowid) FROM temp.gone_keys g WHERE \(match))
            FROM main.\(table.name.sqlIdentifier) c
            WHERE EXISTS (SELECT 1 FROM temp.gone_keys g WHERE \(match)) AND \(condition)
            """
        )
        var found: [(row: RowKey, key: Int)] = []
        while try search.step() {
            let index = Int(search.integer(CInt(table.localKeyCount))) - 1
            found.append((table.localKey(in: search), index))
        }
        return found
    }

    private func execute(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw StoreError(name, code: code, of: handle) }
    }
}

extension TableSchema {
    /// The number of columns of a local key.
    fileprivate var localKeyCount: Int {
        rowIDAlias != nil ? 1 : max(1, primaryKey.count)
    }

    /// The name of the rowid, if it is the local key and no column shows it.
    fileprivate var hiddenRowID: String? { primaryKey.isEmpty ? rowIDName : nil }

    /// The condition that finds a row by its local key.
    fileprivate var keyCondition: String { keyCondition(of: name) }

    fileprivate func keyCondition(of table: String) -> String {
        let table = table.sqlIdentifier
        if let rowIDAlias { return "\(table).\(columns[rowIDAlias].name.sqlIdentifier) = ?" }
        if let hiddenRowID { return "\(table).\(hiddenRowID) = ?" }
        return primaryKey.map { "\(table).\(columns[$0].name.sqlIdentifier) = ?" }
            .joined(separator: " AND ")
    }
}

extension ColumnSchema {
    /// The type and the collation with which SQLite compares a reference to the column, as SQL.
    fileprivate var keyType: String {
        let known = ["BINARY", "NOCASE", "RTRIM"].first { $0 == collation.uppercased() }
        return "\(affinity.rawValue.uppercased()) COLLATE \(known ?? "BINARY")"
    }
}
