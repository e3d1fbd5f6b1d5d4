internal import Changes
internal import Stores

extension RowID {
    /// Creates a name for the rows that a reference by value means with these values; no row need have it as its id.
    init(naming values: [Value], by reference: ViewSchema.Reference) {
        self.init(
            key: Array(zip(reference.targets, reference.folded(values))),
            in: reference.table
        )
    }

    /// Creates a name for the rows with a key in a unique index; no row need have it as its id.
    fileprivate init(uniqueKey key: [UInt8], of index: String, in table: TableName) {
        // No column of a table has this name.
        self.init(key: [(.same, .blob(Array(index.utf8) + [0] + key))], in: table)
    }
}

extension ViewSchema.Reference {
    /// Whether it repeats values of the row that it names.
    var isByValue: Bool { !targets.isEmpty }

    /// Returns the places of its columns that belong to no other reference by value.
    func ownPlaces(in table: TableMapping) -> [Int] {
        let others = table.references.filter { $0.isByValue && $0.columns != columns }
            .flatMap(\.columns)
        return columns.filter { !others.contains($0) }.compactMap(table.place)
    }

    /// Returns whether a row's values name the same row as before, which has another name now.
    func follows(_ wires: [Value], since state: RowState, in table: TableMapping) -> Bool {
        guard let named = namedRow(in: state), let former = table.values(of: self, in: state),
            ownPlaces(in: table).allSatisfy({ wires[$0].namedRow == named })
        else { return false }
        let present = columns.map { name in
            table.place(of: name).map { wires[$0].unmarked } ?? .null
        }
        return folded(former) != folded(present)
    }
}

extension RowState {
    /// Returns the values of columns for comparison with references by value; `nil` if one is NULL.
    func values(_ columns: [ColumnName]) -> [Value]? {
        let values = columns.map { (cell($0)?.value ?? .null).unmarked }
        return values.contains(.null) ? nil : values
    }
}

extension TableMapping {
    /// Returns the values by which a row refers to another; `nil` if one is NULL, or named no row where it was
    /// written, since there is no reference then.
    func values(of reference: ViewSchema.Reference, in state: RowState) -> [Value]? {
        var values: [Value] = []
        for name in reference.columns {
            guard let column = columns.first(where: { $0.name == name }) else { return nil }
            let value = state.cell(name)?.value ?? column.missingValue
            if case .plain = value { return nil }
            if value == .null || !reference.isByValue && !value.isRow { return nil }
            values.append(value.unmarked)
        }
        return values
    }

    /// Returns the places of the columns of references that have values, and name no row.
    func plainPlaces(in state: RowState) -> Set<Int> {
        let plain = references.filter { values(of: $0, in: state) == nil }.flatMap(\.columns)
        return Set(columns.filter { plain.contains($0.name) }.map(\.place))
    }
}

extension Mirror {
    /// Returns names for the unique keys of an accepted row; rows that share a key share a name.
    ///
    /// - Parameters:
    ///   - values: the values of the stored columns, as SQLite stores them.
    ///   - table: the row's table.
    /// - Returns: the names.
    /// - Throws: `StoreError`.
    func keyNames(_ values: [StoredValue], of table: TableMapping) throws -> [RowID] {
        try lastingKeys(values, of: table.schema)
            .map { RowID(uniqueKey: $0.key, of: $0.index, in: table.name) }
    }
}
