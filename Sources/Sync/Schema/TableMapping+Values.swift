internal import Changes
internal import Stores

extension TableMapping {
    /// Returns the index of a column among those that sync.
    func place(of name: ColumnName) -> Int? { columns.firstIndex { $0.name == name } }

    /// Returns the values of a state for its columns, in their form for comparisons of rows.
    func values(of state: RowState) -> [Value] { columns.values(of: state) }

    /// Returns the values that a row had by the columns' numbers, in the form of the columns' present types.
    ///
    /// A column of another type has 5.0 where it had 5, and nobody has edited that.
    func parts(of row: ShownRow, _ numbers: [Int64]) throws -> [Int64: RowImage.Part] {
        var parts = try row.image.partsByColumn()
        for (column, number) in zip(columns, numbers) {
            if let part = parts[number] { parts[number] = column.stored(part) }
        }
        return parts
    }

    /// Returns the value of a cell as its store has it.
    func stored(_ cell: Cell) -> Value {
        place(of: cell.column).map { columns[$0].stored(cell.value) } ?? cell.value
    }
}

extension ShownRow {
    /// Returns whether SQLite finds the row's key equal to that of other values, as of texts in another case.
    func hasKey(
        equalTo values: [StoredValue],
        in table: TableMapping,
        _ numbers: [Int64]
    ) throws -> Bool {
        let parts = try table.parts(of: self, numbers)
        let places = table.identifyingPlaces ?? []
        return zip(table.columns, numbers).allSatisfy { column, number in
            guard places.contains(column.place) else { return true }
            let collation = table.schema.columns[column.place].collation
            return parts[number]?.stored?.folded(collation)
                == column.part(values).stored?.folded(collation)
        }
    }
}

extension [ColumnMapping] {
    /// Returns the values of a state for the columns, as their store has them, in their form for comparisons of rows.
    func values(of state: RowState) -> [Value] {
        map { column in
            let value = state.cell(column.name)?.value ?? column.missingValue
            return column.stored(column.compared(value))
        }
    }
}

extension ColumnMapping {
    /// Returns a value in its form for comparisons of rows: a file is the value that names it, since the file itself may
    /// be missing here; a value that names a row is the row, which may have another name by now.
    func compared(_ value: Value) -> Value {
        guard case .file(let name, _) = value, let file = files?.file(named: name) else {
            return value.namedRow.map { .row($0) } ?? value
        }
        return file.value.wire
    }

    /// Returns the value of a state if that is a file which a value names, and which is missing here; else the value.
    func kept(_ value: Value, _ known: Value?) -> Value {
        guard let known, known.isFile, compared(known) == value else { return value }
        return known
    }

    /// The value of a state without a cell for the column; a default refers to nothing.
    var missingValue: Value {
        let value = (defaultValue ?? .null).wire
        return isReferenceByValue && value != .null ? .plain(value) : value
    }

    /// Returns a value in the form that a store gives it by the column's type; a name of an entity has no other.
    func stored(_ value: Value) -> Value {
        guard entities == nil, let stored = value.stored else { return value }
        return value.marking(KeyComparison.converted(stored, to: affinity).wire)
    }

    /// Returns a part of an image in the form that a store gives it by the column's present type.
    func stored(_ part: RowImage.Part) -> RowImage.Part {
        guard entities == nil, let stored = part.stored else { return part }
        return .init(KeyComparison.converted(stored, to: affinity))
    }
}

extension StoredValue {
    /// The value in its form for change files; for references see `Capture`.
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

extension TableMapping {
    /// Returns the number that other devices use for a row if it is free; `nil` if it has none of its own.
    func hint(at key: RowKey) -> Value? {
        guard isNumbered, case .rowID(let number) = key else { return nil }
        return .integer(number)
    }
}

extension Value {
    /// The value as a store has it; `nil` if a store cannot contain it as it is.
    var stored: StoredValue? {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(bits: number.bitPattern)
        case .text(let bytes): .text(StoredBytes(bytes))
        case .blob(let bytes): .blob(StoredBytes(bytes))
        case .plain(let value), .naming(_, let value): value.stored
        case .row, .file, .longText, .longBlob: nil
        }
    }

    /// Whether it names a row.
    var isFile: Bool {
        if case .file = self { true } else { false }
    }

    var isRow: Bool {
        if case .row = self { true } else { false }
    }

    /// The value as a state has it; a long value becomes a reference to its blob.
    var named: Value {
        let delta = RowDelta(
            RowID(high: 0, low: 1),
            RowState(birth: nil, cells: [Cell(.same, .zero, self)])
        ).movingLongValues { _, _ in }
        return delta.state.cells[0].value
    }
}
