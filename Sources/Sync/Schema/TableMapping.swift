internal import Changes
internal import Stores

/// How the rows of a table travel: by which names, and by which local keys they are known here.
final class TableMapping: Sendable {
    let schema: TableSchema
    /// The places of the columns whose values are read.
    let storedColumns: [Int]
    /// The place of the integer key among the stored columns; `nil` if it is none of them.
    let keyIndex: Int?
    /// The name by which it travels.
    let name: TableName
    let identity: SyncTable.Identity
    /// Those that travel; never an integer key that is each device's own.
    let columns: [ColumnMapping]
    /// References to tables that sync, as a view has them.
    let references: [ViewSchema.Reference]
    /// How it travels if it is of a Core Data store.
    let coreData: CoreDataTable?

    private init?(_ table: SyncTable, _ tables: [String: SyncTable]) {
        guard let name = TableName(table.wireName) else { return nil }
        self.name = name
        if case .named(let places) = table.identity, !table.schema.isUnique(by: places) {
            schema = table.schema.unique(by: places)
        } else {
            schema = table.schema
        }
        identity = table.identity
        coreData = table.coreData
        let stored = table.schema.storedColumns
        storedColumns = stored
        keyIndex = table.schema.rowIDAlias.flatMap(stored.firstIndex)
        columns = table.columns.compactMap { column in
            guard let name = ColumnName(column.wireName),
                let index = stored.firstIndex(of: column.place)
            else { return nil }
            let reference = column.reference.map { table.references[$0] }
            let parent = reference.flatMap { tables[$0.parent] }
            var defaultValue: StoredValue?
            if case .constant(let value) = table.schema.columns[column.place].defaultValue {
                defaultValue = value
            }
            return ColumnMapping(
                place: column.place,
                index: index,
                name: name,
                defaultValue: defaultValue,
                parent: parent.flatMap { parent in
                    reference?.namesNumbers(of: parent) == true ? TableName(parent.wireName) : nil
                },
                entities: column.isEntity ? table.coreData?.numbers : nil,
                holdsFiles: table.coreData != nil
                    && table.schema.columns[column.place].affinity == .blob
            )
        }
        let names = Dictionary(columns.map { ($0.place, $0.name) }) { first, _ in first }
        references = table.references.compactMap { reference in
            guard let parent = tables[reference.parent], let wire = TableName(parent.wireName)
            else {
                return nil
            }
            let columns = reference.columns.compactMap { names[$0] }
            guard columns.count == reference.columns.count else { return nil }
            let isNumber = reference.namesNumbers(of: parent)
            let targets = isNumber ? [] : reference.targets(in: parent)
            guard isNumber || targets.count == columns.count else { return nil }
            let mayBeNull = reference.columns.allSatisfy { place in
                !table.schema.columns[place].isNotNull && !table.schema.primaryKey.contains(place)
            }
            return ViewSchema.Reference(
                columns,
                to: wire,
                targets: targets,
                yields: mayBeNull && reference.onDelete != .cascade && !reference.isRequired
            )
        }
    }

    /// Whether a key that was given out never is again.
    var neverReusesKeys: Bool { schema.isAutoincrement || coreData != nil }

    /// Whether a row has no key here but a rowid that no column shows; VACUUM changes it.
    var isKeyless: Bool { schema.primaryKey.isEmpty }

    /// Whether the local keys of its rows are rowids.
    var hasRowIDs: Bool { schema.rowIDAlias != nil || isKeyless }

    /// The order in which its rows are read: that of their local keys.
    var order: TableCursor.Order { hasRowIDs ? .local : .primaryKey }

    /// Whether its rows have a number that is this store's alone.
    var isNumbered: Bool { hasRowIDs && sharedKey == nil }

    /// Whether a row keeps its id while the columns change by which it got it: it has a key besides them.
    var keepsRenamed: Bool { isNamed && !isKeyless }

    /// Whether a row's id is not made of its local key.
    var hasOwnIDs: Bool {
        if case .key = identity { false } else { true }
    }

    /// Whether the group's map names the columns by which its rows are identified.
    var isNamed: Bool {
        if case .named = identity { true } else { false }
    }

    /// The column that travels and is the rowid's other name: then the number is the same everywhere.
    var sharedKey: ColumnMapping? { columns.first { $0.place == schema.rowIDAlias } }

    /// The places of the columns that identify a row; `nil` if chance or content does.
    var identifyingPlaces: [Int]? {
        switch identity {
        case .key(let places), .named(let places): places
        case .content: nil
        }
    }
}

/// A column that travels.
struct ColumnMapping: Equatable {
    /// Its place in the table's columns.
    let place: Int
    /// Its place among the stored columns, which are those that are read.
    let index: Int
    /// The name by which it travels.
    let name: ColumnName
    /// What it is where a row does not give it a value; `nil` if that is no constant.
    let defaultValue: StoredValue?
    /// The table whose rows it names by their integer keys: such a value travels as a row id.
    let parent: TableName?
    /// The names of the entities whose numbers it holds, and which travel.
    let entities: EntityNumbers?
    /// Whether its values may stand in files beside the store.
    let holdsFiles: Bool

    /// The part of a row's image that stands for the column, which outlasts the store's numbers.
    ///
    /// - Parameter values: the stored columns.
    /// - Returns: the part.
    func part(_ values: [StoredValue]) -> RowImage.Part {
        .init(entities?.name(values[index]) ?? values[index])
    }
}

extension TableMapping {
    /// Maps the tables of a store that sync, parents before their children but in cycles.
    ///
    /// A table or a column whose name cannot travel is left out.
    static func mappings(of tables: [SyncTable]) -> [TableMapping] {
        let byName = Dictionary(tables.map { ($0.name.foldedIdentifier, $0) }) { first, _ in first }
        return tables.compactMap { TableMapping($0, byName) }
    }
}

extension TableMapping {
    /// Makes the image of a row.
    ///
    /// - Parameters:
    ///   - values: the stored columns in their order.
    ///   - numbers: those of the columns that travel; see `SidecarAccess.numbers`.
    /// - Returns: the image, of the columns that travel.
    func image(_ values: [StoredValue], _ numbers: [Int64]) -> RowImage {
        RowImage(zip(columns, numbers).map { ($1, $0.part(values)) })
    }
}

extension TableSchema {
    /// Returns whether no two rows of the table have the same values in some columns, but for NULL.
    func isUnique(by places: [Int]) -> Bool {
        indexes.contains { index in
            index.isUnique && index.isPlain && Set(index.keys.map(\.column)) == Set(places)
        }
    }
}

extension SyncReference {
    /// Whether its values are the integer keys of its parent's rows.
    fileprivate func namesNumbers(of parent: SyncTable) -> Bool {
        guard let alias = parent.schema.rowIDAlias else { return false }
        return parentColumns == [alias]
    }

    fileprivate func targets(in parent: SyncTable) -> [ColumnName] {
        parentColumns.compactMap { place in
            parent.columns.first { $0.place == place }.flatMap { ColumnName($0.wireName) }
        }
    }
}
