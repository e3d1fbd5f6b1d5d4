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
}

/// The changes of a store's schema, and of the map, since the last capture.
struct SchemaChange {
    /// Whether the store's schema differs from that of the last capture: rows may have come with it.
    var isMigration = false
    /// The columns that had another meaning, by table.
    var columns: [TableName: Set<ExactString>] = [:]
}
