internal import Changes
internal import Files
internal import Foundation
internal import Stores

/// The meaning of each column that syncs: its value if missing, and the table whose rows it names.
///
/// The sidecar keeps it, since the schema or the map may differ at the next capture. In that case the store's values
/// stay, and those with another meaning in the state are sent again.
struct ColumnMeanings: Codable, Equatable {
    struct Meaning: Codable, Equatable {
        /// The table whose rows the column names by their numbers.
        var parent: String?
        /// The value of a row without a cell, encoded.
        var missing: [UInt8]
        /// The declared type, by which a renamed column is known.
        var type: String?
        /// The files that its values name, if the map names their directory.
        var files: String?
    }

    /// A reference that repeats values of another row.
    struct Reference: Codable, Equatable {
        var columns: [String]
        var table: String
        var targets: [String]
    }

    /// The meanings by the wire names of tables and columns.
    private var tables: [ExactString: [ExactString: Meaning]]
    /// The columns that have to fit each other, by the wire names of tables.
    private var groups: [ExactString: [[String]]]
    /// The references by value, by the wire names of tables.
    private var references: [ExactString: [Reference]]

    init(_ tables: [TableMapping]) {
        let named = tables.map { table in
            let columns = table.columns.map { column in
                let meaning = Meaning(
                    parent: column.parent?.description,
                    missing: column.missingValue.encoded,
                    type: table.schema.columns[column.place].declaredType.uppercased(),
                    files: column.files?.directory == nil ? nil : column.files?.description
                )
                return (column.name.description.exact, meaning)
            }
            return (table.name.description.exact, Dictionary(columns) { first, _ in first })
        }
        self.tables = Dictionary(named) { first, _ in first }
        let groups = tables.map { table in
            let names = table.groups.map { $0.sorted().map { table.columns[$0].name.description } }
            return (table.name.description.exact, names)
        }
        self.groups = Dictionary(groups) { first, _ in first }
        let references = tables.map { table in
            let found = table.references.filter(\.isByValue).map { reference in
                Reference(
                    columns: reference.columns.map(\.description),
                    table: reference.table.description,
                    targets: reference.targets.map(\.description)
                )
            }
            return (table.name.description.exact, found)
        }
        self.references = Dictionary(references) { first, _ in first }
    }

    /// Returns a table's references that repeat values of other rows.
    func references(of table: TableName) -> [Reference] {
        references[table.description.exact] ?? []
    }

    /// Returns the columns that have to fit a column, with it.
    func group(of column: ColumnName, in table: TableName) -> Set<String> {
        let name = column.description
        let group = groups[table.description.exact]?.first { $0.contains(name) }
        return Set(group ?? [name])
    }

    /// The wire names of the tables.
    var tableNames: Set<ExactString> { Set(tables.keys) }

    /// Returns the wire names of a table's columns.
    func columnNames(of table: ExactString) -> Set<ExactString> { Set((tables[table] ?? [:]).keys) }

    /// Returns the declared type of a column; `nil` if it is unknown.
    func type(of column: ExactString, in table: ExactString) -> String? {
        tables[table]?[column]?.type
    }

    /// Returns the columns of a table whose meaning has changed, without columns that are new.
    func changed(since former: ColumnMeanings, in table: TableName) -> Set<ExactString> {
        let (new, old) = (
            tables[table.description.exact] ?? [:], former.tables[table.description.exact] ?? [:]
        )
        return Set(
            new.keys.filter { name in
                guard let was = old[name], let new = new[name] else { return false }
                return was.parent != new.parent || was.missing != new.missing
                    || was.files != new.files
            }
        )
    }

    /// Returns the table whose rows a column names; `nil` if it names none.
    func parent(of column: ColumnName, in table: TableName) -> String? {
        tables[table.description.exact]?[column.description.exact]?.parent
    }

    /// Returns the encoded value of a row without a cell for a column; empty if the column is unknown.
    func missing(of column: ColumnName, in table: TableName) -> [UInt8] {
        tables[table.description.exact]?[column.description.exact]?.missing ?? []
    }
}

/// The changes of a store's schema, and of the map, since the last capture.
struct SchemaChange {
    /// Whether the store's schema differs from that of the last capture: rows may have come with it.
    var isMigration = false
    /// The columns that had another meaning, by table.
    var columns: [TableName: Set<ExactString>] = [:]
}

extension SidecarAccess {
    /// Records the meaning of the store's columns.
    ///
    /// - Parameters:
    ///   - id: see `SyncSchema.digest`.
    ///   - tables: the tables that sync.
    /// - Returns: the changes since the last capture.
    /// - Throws: `SyncRefusal.renamed`, `SyncRefusal.otherReference` if a column now names rows of another table, and
    ///   the map does not say so; `SidecarError`.
    func takeSchema(_ id: [UInt8], _ tables: [TableMapping]) throws -> SchemaChange {
        var change = SchemaChange()
        change.isMigration = try keepSchema(id)
        let meanings = ColumnMeanings(tables)
        guard let former = try columnMeanings else {
            try keep(meanings)
            return change
        }
        guard former != meanings else { return change }
        try RenameCheck(former: former, present: meanings, map: membership.map).run(tables)
        let rules = SchemaRules(try membership.map)
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
    var columnMeanings: ColumnMeanings? {
        get throws {
            try bytes("columns").flatMap {
                try? JSONDecoder().decode(ColumnMeanings.self, from: Data($0))
            }
        }
    }

    private func keep(_ meanings: ColumnMeanings) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try set("columns", bytes: Array(encoder.encode(meanings)))
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
