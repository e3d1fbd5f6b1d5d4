internal import Changes
internal import Stores

extension RowID {
    /// Names the rows of a table that references by value with these values mean; no row need have it.
    init(naming values: [Value], by reference: ViewSchema.Reference) {
        self.init(key: Array(zip(reference.targets, values)), in: reference.table)
    }

    /// Names the rows of a table that have a key in a unique index; no row need have it.
    fileprivate init(uniqueKey key: [UInt8], of index: String, in table: TableName) {
        // No column of a table is called so.
        self.init(key: [(.same, .blob(Array(index.utf8) + [0] + key))], in: table)
    }
}

extension ViewSchema.Reference {
    /// Whether it repeats values of the row that it names.
    var isByValue: Bool { !targets.isEmpty }
}

extension RowState {
    /// Returns the values of columns, as references by value are compared with them; `nil` if one is NULL.
    func values(_ columns: [ColumnName]) -> [Value]? {
        let values = columns.map { cell($0)?.value ?? .null }
        return values.contains(.null) ? nil : values
    }
}

extension TableMapping {
    /// Returns the values by which a row refers; `nil` if one is NULL: then it refers to none.
    func values(of reference: ViewSchema.Reference, in state: RowState) -> [Value]? {
        var values: [Value] = []
        for name in reference.columns {
            guard let column = columns.first(where: { $0.name == name }) else { return nil }
            let value = state.cell(name)?.value ?? column.missing
            if value == .null { return nil }
            values.append(value)
        }
        return values
    }
}

extension ColumnMapping {
    /// What a row shows that has no such cell.
    var missing: Value { parent == nil ? (defaultValue ?? .null).wire : .null }
}

extension Mirror {
    /// Names the unique keys of a row that was taken: rows of which keys are equal have a name in common.
    ///
    /// - Parameters:
    ///   - values: the stored columns as SQLite has them.
    ///   - table: its table.
    /// - Returns: the names.
    /// - Throws: `StoreError`.
    func keyNames(_ values: [StoredValue], of table: TableMapping) throws -> [RowID] {
        try lastingKeys(values, of: table.schema)
            .map { RowID(uniqueKey: $0.key, of: $0.index, in: table.name) }
    }
}
