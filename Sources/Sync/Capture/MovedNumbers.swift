internal import Changes
internal import Stores

/// The rows whose own keys contain the numbers of rows that have other numbers now.
struct MovedNumbers {
    /// The numbers that rows had, with those that they have; `nil` for a row that is gone from a number that is taken.
    let numbers: [Int64: Int64?]
    let access: SidecarAccess

    init(_ numbers: [Int64: Int64?], _ access: SidecarAccess) {
        (self.numbers, self.access) = (numbers, access)
    }

    /// Moves such rows in the shadow to the keys that SQLite gave them, and the rows below them.
    ///
    /// - Returns: the captures of these rows.
    func apply(
        to table: TableMapping,
        _ all: [TableCapture],
        _ run: inout Capture
    ) throws -> [TableCapture] {
        run.moved[table.name] = numbers
        var found: [TableCapture] = []
        for child in all where child.table.name != table.name {
            let rows = ReferringRows(capture: child)
            let columns = rows.columnsOfKey(naming: table.name)
            if columns.isEmpty || run.moved[child.table.name] != nil { continue }
            try move(rows, columns)
            found.append(child)
            // Rows of such a table have the numbers of the rows that they refer to.
            if child.table.schema.rowIDAlias == columns[0].place {
                found += try apply(to: child.table, all, &run)
            }
        }
        return found
    }

    private func move(_ child: ReferringRows, _ columns: [ColumnMapping]) throws {
        let places = columns.compactMap { child.table.columns.firstIndex(of: $0) }
        let columns = places.map { child.capture.numbers[$0] }
        var moved: [(old: ShownRow, new: ShownRow)] = []
        var gone: [ShownRow] = []
        try access.shadow.forEach(in: child.table.name) { row in
            var parts = try row.image.parts()
            for index in parts.indices where columns.contains(parts[index].column) {
                guard case .value(let value) = parts[index].part,
                    case .integer(let number) = KeyComparison.folded(value, .integer),
                    let target = numbers[number]
                else { continue }
                guard let target else { return gone.append(row) }
                parts[index].part = .value(.integer(target))
            }
            var new = row
            new.image = RowImage(parts)
            guard new.image != row.image else { return }
            new.key = try child.key(of: new.image, else: row.key)
            moved.append((row, new))
        }
        try child.move(moved, displacing: gone, in: access)
    }
}
