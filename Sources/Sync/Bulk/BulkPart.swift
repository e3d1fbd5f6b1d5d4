internal import Changes
internal import Stores

/// The rows of a range as inserts into the store, in the order of their keys.
///
/// A row is among them if its view and its form in the store follow from its cells alone. The store is the judge of
/// its constraints. All other rows become dirty.
struct BulkPart {
    private(set) var steps: [WritePlan.Step] = []
    let table: TableMapping
    let numbers: [Int64]
    private let access: SidecarAccess
    /// The keys of rows that the store shows, and that are alive, by their ids.
    private var parents: [RowID: Int64?] = [:]
    /// The columns, in the order in which a state has its cells.
    private let columns: [ColumnMapping]

    init(_ range: BulkRange, of table: TableMapping, _ access: SidecarAccess) throws {
        (self.table, self.access) = (table, access)
        numbers = try access.numbers(of: table)
        columns = table.columns.sorted { $0.name < $1.name }
        for row in try access.bulkRows.rows(of: range) {
            if let step = try step(for: row) {
                steps.append(step)
            } else {
                try access.dirty.mark(row.id)
            }
        }
        steps.sort { $0.key < $1.key }
        try leaveTakenKeys()
    }

    /// Leaves rows to the view whose keys other rows have or had.
    private mutating func leaveTakenKeys() throws {
        let isEmpty = try !access.shadow.hasRows(in: table.name)
        var last: RowKey?
        var kept: [WritePlan.Step] = []
        kept.reserveCapacity(steps.count)
        for step in steps {
            let isUnused =
                try isEmpty || access.shadow.id(at: step.key, in: table.name) == nil
            let isFree =
                try isUnused && step.key != last
                && access.shadow.formerID(at: step.key, in: table.name) == nil
                && access.shadow.formerKey(of: step.id) == nil
            if isFree { kept.append(step) } else { try access.dirty.mark(step.id) }
            last = step.key
        }
        steps = kept
    }

    /// Returns the insert of a row; `nil` if the view has to decide.
    private mutating func step(for row: KnownRow) throws -> WritePlan.Step? {
        guard row.isSimple, let values = try values(of: row), let key = key(of: row, values) else {
            return nil
        }
        let image = table.image(values.map { $0 ?? .null }, numbers)
        return WritePlan.Step(
            table: table,
            id: row.id,
            causalLength: row.state.causalLength,
            key: key,
            old: nil,
            new: image,
            change: .insert(values)
        )
    }

    /// Returns the values of the stored columns, `nil` for those that do not sync; `nil` unless SQLite keeps them as
    /// they are.
    private mutating func values(of row: KnownRow) throws -> [StoredValue?]? {
        let cells = row.state.cells
        guard cells.count == columns.count else { return nil }
        var values = [StoredValue?](repeating: nil, count: table.storedColumns.count)
        for (column, cell) in zip(columns, cells) {
            guard cell.column == column.name, let value = try value(cell.value, in: column) else {
                return nil
            }
            values[column.index] = value
        }
        if table.isNumbered, let place = table.keyIndex {
            guard case .integer(let number)? = row.delta.hint else { return nil }
            values[place] = .integer(number)
        }
        return values
    }

    private mutating func value(_ value: Value, in column: ColumnMapping) throws -> StoredValue? {
        if column.parent != nil, value != .null {
            guard case .row(let id) = value, !column.keepsForm else { return nil }
            return try number(of: id, in: column.parent).map { .integer($0) }
        }
        guard value == value.unmarked, let stored = value.stored, column.stored(value) == value,
            column.files?.file(stored) == nil
        else { return nil }
        return stored
    }

    /// Returns the number of a row that is alive and shown; `nil` if there is none.
    private mutating func number(of id: RowID, in parent: TableName?) throws -> Int64? {
        if let known = parents[id] { return known }
        var number: Int64?
        if let place = try access.shadow.place(of: id), place.table == parent,
            try access.states.known(id)?.state.isAlive == true,
            case .rowID(let key) = place.row.key
        {
            number = key
        }
        parents[id] = .some(number)
        return number
    }

    private func key(of row: KnownRow, _ values: [StoredValue?]) -> RowKey? {
        guard table.hasRowIDs else {
            let key = table.schema.primaryKey.map { place in
                table.storedColumns.firstIndex(of: place).flatMap { values[$0] } ?? .null
            }
            return key.contains(.null) ? nil : RowKey(primaryKey: key)
        }
        let number = table.keyIndex.map { values[$0] } ?? row.delta.hint?.stored
        guard case .integer(let number)? = number else { return nil }
        return .rowID(number)
    }
}

extension SyncSchema {
    /// Returns the tables whose rows may be taken as they are, parents before children.
    ///
    /// Their references are by number, and their rows have no meaning beyond their cells. No row of them waits for
    /// anything.
    func bulkTables(_ tables: [TableMapping], _ access: SidecarAccess) throws -> [TableMapping] {
        let byName = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
        let called = byName.callers
        return try TableOrder(tables).groups.filter { !$0.isCyclic }.flatMap(\.tables).filter {
            table in
            try table.coreData == nil && !table.isNamed && called[table.name] == nil
                && table.references.allSatisfy { !$0.isByValue }
                && table.columns.allSatisfy { !$0.isReferenceByValue }
                && !access.held.has(of: table.name)
        }
    }
}
