internal import Changes
internal import Stores

/// The values of columns whose default is no constant, for rows of devices that do not have the columns yet.
///
/// The first device that shows such a row evaluates the default, and sends the value without a time, so that any edit
/// wins.
struct ComputedDefaults {
    private let tables: [TableMapping]

    init(of tables: [TableMapping]) {
        self.tables = tables.filter { !$0.computedDefaults.isEmpty }
    }

    /// Gives a value to each row that waits to be shown and has none.
    ///
    /// - Throws: `StoreError`, `SidecarError`, `FileError`.
    func fill(_ capture: inout Capture) throws {
        guard !tables.isEmpty else { return }
        let mirror = try Mirror([])
        for table in tables {
            for id in try Self.unshownRows(of: table.name, capture.access) {
                let state = try capture.access.states.known(id)?.state
                guard let state, state.isAlive else { continue }
                let cells = table.computedDefaults.compactMap { name, expression -> Cell? in
                    guard state.cell(name) == nil, let value = mirror.evaluate(expression) else {
                        return nil
                    }
                    return Cell(name, .zero, value.wire)
                }
                guard !cells.isEmpty else { continue }
                let filled = RowState(causalLength: state.causalLength, birth: nil, cells: cells)
                try capture.send(RowDelta(id, filled), in: table.name)
            }
        }
    }

    /// Returns the rows of a table that are alive, and that the store may not show yet.
    private static func unshownRows(
        of table: TableName,
        _ access: SidecarAccess
    ) throws -> [RowID] {
        var ids: [RowID] = []
        let statement = try access.ownStatement(
            """
            SELECT row.id FROM row JOIN (SELECT id FROM dirty UNION SELECT id FROM held WHERE t = ?1) AS w
            ON w.id = row.id WHERE row.t = ?1 AND row.cl % 2 = 1
            """
        )
        try statement.begin([.integer(access.number(of: table))])
        while try statement.step() {
            if let id = statement.id(0) { ids.append(id) }
        }
        return ids
    }
}

extension TableMapping {
    /// The columns that must have a value, with the expressions that give one.
    fileprivate var computedDefaults: [(name: ColumnName, expression: String)] {
        columns.compactMap { column in
            guard schema.columns[column.place].isNotNull,
                case .expression(let text) = schema.columns[column.place].defaultValue
            else { return nil }
            return (column.name, text)
        }
    }
}
