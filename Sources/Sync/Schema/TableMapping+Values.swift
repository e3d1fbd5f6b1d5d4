internal import Changes
internal import Stores

extension TableMapping {
    /// Returns the place of a column among those that travel.
    func place(of name: ColumnName) -> Int? { columns.firstIndex { $0.name == name } }

    /// The values that a state has for its columns.
    func values(of state: RowState) -> [Value] { columns.values(of: state) }
}

extension [ColumnMapping] {
    /// The values that a state has for them.
    func values(of state: RowState) -> [Value] {
        map { column in
            state.cell(column.name)?.value ?? column.missingValue
        }
    }
}

extension ColumnMapping {
    /// What a state means that has no value for the column.
    var missingValue: Value { parent == nil ? (defaultValue ?? .null).wire : .null }
}

extension StoredValue {
    /// The value as it travels; of a reference see `Capture`.
    var wire: Value {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let bits): .real(Double(bitPattern: bits))
        case .text(let bytes): .text(bytes.array)
        case .blob(let bytes): .blob(bytes.array)
        }
    }
}

extension Value {
    /// The value as a store has it; `nil` of what cannot be in a store as it is.
    var stored: StoredValue? {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(bits: number.bitPattern)
        case .text(let bytes): .text(StoredBytes(bytes))
        case .blob(let bytes): .blob(StoredBytes(bytes))
        case .row, .file, .longText, .longBlob: nil
        }
    }

    /// Whether it names a row.
    var isRow: Bool {
        if case .row = self { true } else { false }
    }

    /// The value as a state has it: a long one by its name.
    var named: Value {
        let delta = RowDelta(
            RowID(high: 0, low: 1),
            RowState(birth: nil, cells: [Cell(.same, .zero, self)])
        ).movingLongValues { _, _ in }
        return delta.state.cells[0].value
    }
}
