internal import Changes
internal import Foundation
internal import Stores

/// The way in which each column that travels is read: what a missing value is, and whose rows it names.
///
/// The sidecar keeps it, since the schema or the map may say something else at the next capture. What a store
/// holds stays as it is then, and is told where the state says it otherwise by now.
struct ColumnMeanings: Codable, Equatable {
    struct Meaning: Codable, Equatable {
        /// The table whose rows it names by their numbers.
        var parent: String?
        /// What a state means that has no value, encoded.
        var missing: [UInt8]
    }

    /// By the names by which tables and columns travel.
    private var tables: [String: [String: Meaning]]

    init(_ tables: [TableMapping]) {
        let named = tables.map { table in
            let columns = table.columns.map { column in
                let meaning = Meaning(
                    parent: column.parent?.description,
                    missing: column.missingValue.encoded
                )
                return (column.name.description, meaning)
            }
            return (table.name.description, Dictionary(columns) { first, _ in first })
        }
        self.tables = Dictionary(named) { first, _ in first }
    }

    /// Returns the columns of a table that were read otherwise before; none that were not there.
    func changed(since former: ColumnMeanings, in table: TableName) -> Set<String> {
        let (new, old) = (tables[table.description] ?? [:], former.tables[table.description] ?? [:])
        return Set(new.keys.filter { name in old[name].map { $0 != new[name] } ?? false })
    }

    /// Returns the table whose rows a column names; `nil` if it names none.
    func parent(of column: ColumnName, in table: TableName) -> String? {
        tables[table.description]?[column.description]?.parent
    }
}

/// What of a store's schema, and of the map, is new to a capture.
struct SchemaChange {
    /// Whether the store's schema is another than at the capture before: rows may have come with it.
    var isMigration = false
    /// The columns that were read otherwise before, by table.
    var columns: [TableName: Set<String>] = [:]
}

extension SidecarAccess {
    /// Keeps how the store's columns are read.
    ///
    /// - Parameters:
    ///   - id: see `SyncSchema.digest`.
    ///   - tables: those that sync.
    /// - Returns: what is new of it.
    /// - Throws: `SyncRefusal.otherReference` if a column names rows of another table now, and the map does
    ///   not say that it should; `SidecarError`.
    func takeSchema(_ id: [UInt8], _ tables: [TableMapping]) throws -> SchemaChange {
        var change = SchemaChange()
        change.isMigration = try keepSchema(id)
        let meanings = ColumnMeanings(tables)
        guard let kept = try bytes("columns"),
            let former = try? JSONDecoder().decode(ColumnMeanings.self, from: Data(kept))
        else {
            try keep(meanings)
            return change
        }
        guard former != meanings else { return change }
        let rules = SchemaRules(try map)
        for table in tables {
            let columns = meanings.changed(since: former, in: table.name)
            if columns.isEmpty { continue }
            for column in table.columns where columns.contains(column.name.description) {
                try check(column, of: table, former, rules)
            }
            change.columns[table.name] = columns
        }
        try keep(meanings)
        return change
    }

    private func keep(_ meanings: ColumnMeanings) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try set("columns", bytes: Array(encoder.encode(meanings)))
    }

    /// Refuses a reference that came, went or leads elsewhere, unless the map names it.
    ///
    /// Else numbers would travel that mean other rows elsewhere, or rows would be hidden on devices whose
    /// application is older.
    private func check(
        _ column: ColumnMapping,
        of table: TableMapping,
        _ former: ColumnMeanings,
        _ rules: SchemaRules
    ) throws {
        let was = former.parent(of: column.name, in: table.name)
        guard was != column.parent?.description else { return }
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
