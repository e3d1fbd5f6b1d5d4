internal import Changes
internal import Files
internal import Stores

/// The mapping of a table's rows to change files: the wire names, and the local keys of rows.
final class TableMapping: Sendable {
    let schema: TableSchema
    /// The indices of the columns whose values are read.
    let storedColumns: [Int]
    /// The index of the integer key among the stored columns; `nil` if it is not one of them.
    let keyIndex: Int?
    /// The table's wire name.
    let name: TableName
    let identity: SyncTable.Identity
    /// The columns that sync, without an integer key that each device assigns itself.
    let columns: [ColumnMapping]
    /// The references to tables that sync, in the form for a view.
    let references: [ViewSchema.Reference]
    /// Its form in change files, if it belongs to a Core Data store.
    let coreData: CoreDataTable?
    /// The columns that have to fit each other, by their indices in `columns`: an edit of one carries all.
    let groups: [Set<Int>]

    private init?(_ table: SyncTable, _ tables: [ExactString: SyncTable]) {
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
                affinity: table.schema.columns[column.place].affinity,
                isReferenceByValue: table.references.contains {
                    $0.columns.contains(column.place) && tables[$0.parent] != nil
                        && !$0.namesNumbers(of: tables[$0.parent])
                },
                entities: column.isEntity ? table.coreData?.numbers : nil,
                files: ColumnFiles(of: table.schema.columns[column.place], in: column.files)
            )
        }
        groups = Self.groups(table, columns)
        let names = Dictionary(columns.map { ($0.place, $0.name) }) { first, _ in first }
        references = table.references.compactMap { reference in
            tables[reference.parent].flatMap { Self.reference(reference, of: table, to: $0, names) }
        }
    }

    private static func reference(
        _ reference: SyncReference,
        of table: SyncTable,
        to parent: SyncTable,
        _ names: [Int: ColumnName]
    ) -> ViewSchema.Reference? {
        guard let wire = TableName(parent.wireName) else { return nil }
        let columns = reference.columns.compactMap { names[$0] }
        guard columns.count == reference.columns.count else { return nil }
        let isNumber = reference.namesNumbers(of: parent)
        let targets = isNumber ? [] : reference.targets(in: parent)
        guard isNumber || targets.count == columns.count else { return nil }
        let empty = reference.isRequired ? nil : reference.empty(in: table.schema, isNumber)
        return ViewSchema.Reference(
            columns,
            to: wire,
            targets: targets,
            yields: empty != nil && reference.onDelete != .cascade,
            empty: empty,
            folded: KeyComparison.folding(reference.parentColumns.map { parent.schema.columns[$0] })
        )
    }

    /// Returns the columns of each CHECK, composite reference and UNIQUE key; groups with a common column are one.
    private static func groups(_ table: SyncTable, _ columns: [ColumnMapping]) -> [Set<Int>] {
        let keys = table.schema.indexes.filter { $0.isUnique && $0.origin != .primaryKey }
        let tied =
            table.schema.checks + table.references.map { Set($0.columns) }
            + keys.map { Set($0.keys.compactMap(\.column)) }
        var groups: [Set<Int>] = []
        for places in tied {
            var group = Set(columns.indices.filter { places.contains(columns[$0].place) })
            for other in groups where !other.isDisjoint(with: group) { group.formUnion(other) }
            groups.removeAll { !$0.isDisjoint(with: group) }
            groups.append(group)
        }
        return groups.filter { $0.count > 1 }
    }

    /// Whether an assigned key is never assigned again.
    var neverReusesKeys: Bool { schema.isAutoincrement || coreData != nil }

    /// Whether a row has no key except a rowid that no column shows, and that VACUUM changes.
    var isKeyless: Bool { schema.primaryKey.isEmpty }

    /// Whether the local keys of its rows are rowids.
    var hasRowIDs: Bool { schema.rowIDAlias != nil || isKeyless }

    /// The order in which its rows are read: that of their local keys.
    var order: TableCursor.Order { hasRowIDs ? .local : .primaryKey }

    /// Whether its rows have a number that is valid in this store only.
    var isNumbered: Bool { hasRowIDs && sharedKey == nil }

    /// Whether a row keeps its id if the columns change that determined the id, since it has another key.
    var keepsRenamed: Bool { isNamed && !isKeyless }

    /// The indices of the columns that identify a row, if it has no other key: with NULL there, nothing finds it again.
    var placesOfOnlyKey: [Int] { keepsRenamed ? [] : identifyingPlaces ?? [] }

    /// Whether a row's id does not depend on its local key.
    var hasOwnIDs: Bool {
        if case .key = identity { false } else { true }
    }

    /// Returns whether rows with the same key in an index are the same thing: it is the primary key, or what the map
    /// names.
    func isIdentity(_ index: IndexSchema) -> Bool {
        if index.origin == .primaryKey { return true }
        guard isNamed, schema.isPlain(index) else { return false }
        return Set(index.keys.map(\.column)) == Set((identifyingPlaces ?? []).map(Optional.some))
    }

    /// Whether the group's map names the columns that identify its rows.
    var isNamed: Bool {
        if case .named = identity { true } else { false }
    }

    /// The synced column that is another name of the rowid; its number is the same on all devices.
    var sharedKey: ColumnMapping? { columns.first { $0.place == schema.rowIDAlias } }

    /// The wire names of the columns that identify a row.
    var key: Set<ColumnName> {
        let places = identifyingPlaces ?? []
        return Set(columns.filter { places.contains($0.place) }.map(\.name))
    }

    /// The indices of the columns that identify a row; `nil` if chance or content does.
    var identifyingPlaces: [Int]? {
        switch identity {
        case .key(let places), .named(let places): places
        case .content: nil
        }
    }
}

/// A column that syncs.
struct ColumnMapping: Equatable {
    /// The column's index in the table.
    let place: Int
    /// The column's index among the stored columns, which are those that are read.
    let index: Int
    /// The column's wire name.
    let name: ColumnName
    /// The value in a row that gives none; `nil` if that is no constant.
    let defaultValue: StoredValue?
    /// The table whose rows it names by their integer keys; such a value is sent as a row id.
    let parent: TableName?
    let affinity: ColumnSchema.Affinity
    /// Whether it belongs to a reference that repeats values of the other row.
    let isReferenceByValue: Bool
    /// The names of the entities whose numbers it holds; the names are sent.
    let entities: EntityNumbers?
    /// The files beside the store that its values may name.
    let files: ColumnFiles?

    /// Whether a number may be there in several forms, such as 7.0 and '07'.
    var keepsForm: Bool { [.text, .blob].contains(affinity) }

    /// Returns the part of a row's image for the column, which does not depend on the store's entity numbers.
    ///
    /// - Parameter values: the stored columns.
    /// - Returns: the part.
    func part(_ values: [StoredValue]) -> RowImage.Part {
        .init(entities?.name(values[index]) ?? values[index])
    }

    /// Returns whether a part of an image has no content yet: none, NULL, the default, or an empty text or blob.
    func isBlank(_ part: RowImage.Part?) -> Bool {
        switch part {
        case nil, .value(.null): true
        case .value(.text(let bytes)) where bytes.count == 0: true
        case .value(.blob(let bytes)) where bytes.count == 0: true
        case .value(let value): value == defaultValue
        case .hash: false
        }
    }
}

extension TableMapping {
    /// Maps the tables of a store that sync, parents before their children except in cycles.
    ///
    /// It leaves out a table or a column whose name cannot be a wire name.
    static func mappings(of tables: [SyncTable]) -> [TableMapping] {
        let byName = Dictionary(tables.map { ($0.name.foldedIdentifier, $0) }) { first, _ in first }
        return tables.compactMap { TableMapping($0, byName) }
    }
}

extension TableMapping {
    /// Returns the image of a row.
    ///
    /// - Parameters:
    ///   - values: the values of the stored columns, in order.
    ///   - numbers: the numbers of the columns that sync; see `SidecarAccess.numbers`.
    /// - Returns: the image of the columns that sync.
    func image(_ values: [StoredValue], _ numbers: [Int64]) -> RowImage {
        RowImage(zip(columns, numbers).map { ($1, $0.part(values)) })
    }
}

extension TableSchema {
    /// Returns whether columns are another name of the rowid, so that references to them name rows by their numbers.
    func areRowID(_ places: [Int]) -> Bool { rowIDAlias.map { places == [$0] } ?? false }

    /// Returns whether no two rows of the table can have the same values in some columns, except for NULL.
    func isUnique(by places: [Int]) -> Bool {
        indexes.contains { index in
            index.isUnique && isPlain(index) && Set(index.keys.map(\.column)) == Set(places)
        }
    }
}

extension SyncReference {
    /// Returns whether its values are the integer keys of its parent's rows.
    fileprivate func namesNumbers(of parent: SyncTable?) -> Bool {
        parent?.schema.areRowID(parentColumns) ?? false
    }

    /// Returns the values that refer to no row: NULL, or a constant default if a column must not be NULL.
    ///
    /// - Parameters:
    ///   - table: the table with the reference.
    ///   - isNumber: whether its value is another row's number. A positive default may be a row's number.
    /// - Returns: the values; `nil` if the table allows none.
    fileprivate func empty(in table: TableSchema, _ isNumber: Bool) -> [Value]? {
        var values: [Value] = []
        for place in columns {
            let column = table.columns[place]
            if table.primaryKey.contains(place) { return nil }
            if !column.isNotNull {
                values.append(.null)
                continue
            }
            guard case .constant(let value) = column.defaultValue, value != .null else {
                return nil
            }
            if isNumber {
                guard case .integer(let number) = value, number <= 0 else { return nil }
            }
            values.append(value.wire)
        }
        return values
    }

    fileprivate func targets(in parent: SyncTable) -> [ColumnName] {
        parentColumns.compactMap { place in
            parent.columns.first { $0.place == place }.flatMap { ColumnName($0.wireName) }
        }
    }
}

extension TableMapping {
    /// The places of the columns of each plain UNIQUE index, or those of a key that identifies rows.
    var uniqueNames: [[Int]] {
        schema.indexes.compactMap { index in
            guard index.isUnique, schema.isPlain(index),
                (index.origin == .primaryKey) != hasOwnIDs
            else { return nil }
            let places = index.keys.compactMap { key in
                columns.firstIndex { $0.place == key.column }
            }
            return places.count == index.keys.count ? places : nil
        }
    }
}
