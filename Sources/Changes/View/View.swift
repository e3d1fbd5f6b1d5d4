/// A row as a schema shows it.
public struct ViewRow: Hashable, Sendable {
    public let id: RowID
    public let birth: Stamp
    /// The values, one for each column in the table's order; references name rows that are shown.
    public internal(set) var values: [Value]

    /// Orders rows by age: by birth, then id.
    func isOlder(than other: ViewRow) -> Bool {
        birth != other.birth ? birth < other.birth : id < other.id
    }
}

/// A row of a table.
///
/// The id alone is not unique: a hostile container may use one id in two tables.
public struct ViewKey: Hashable, Sendable {
    public let table: TableName
    public let id: RowID

    public init(_ table: TableName, _ id: RowID) {
        self.table = table
        self.id = id
    }
}

/// The rows that a schema can show of a state: a pure function of state, schema and map.
///
/// This is the full computation. It is simple and slow, and tests compare faster ones with it.
public struct View {
    /// The reason why a row is alive and not shown.
    public enum Reason: Hashable, Sendable {
        /// The row's insert has not arrived yet.
        case unborn
        /// The schema has no such table.
        case noTable
        /// The row has a row id in a column that is not a reference in the schema.
        case noReference(ColumnName)
        /// The row is the same as another row, which is its stand-in.
        case same(RowID)
        /// The row breaks NOT NULL, a CHECK or a type.
        case refused
        /// The row that it refers to is not shown; the id is `nil` if the reference names no possible row.
        case parent(TableName, RowID?)
        /// The row has the UNIQUE key of another row, which is its stand-in.
        case unique(RowID)
        /// The row has a UNIQUE key of another row that is another thing; it is shown once the key is free.
        case yields(RowID)
        /// The stand-ins of tables that refer to each other did not settle.
        case unsettled
    }

    /// The rows of each table of the schema, rising by id.
    public let shown: [TableName: [ViewRow]]
    /// The rows that are alive and not shown.
    public let held: [ViewKey: Reason]
    /// The held rows that were found after other rows were in place; they depend on the order of steps.
    public let late: Set<ViewKey>

    /// The references of shown rows that are shown empty, by their columns.
    public let emptied: [ViewKey: Set<ColumnName>]
    /// The rows that are shown without their parents, since they were in rings; each with the rows of its ring.
    public let rings: [ViewKey: [RowID]]

    /// Returns the row shown in place of the given one; `nil` if that is the row itself, or none.
    public func standIn(for key: ViewKey) -> RowID? {
        var current = key
        while let reason = held[current] {
            switch reason {
            // A stand-in may itself have the key of an older row.
            case .same(let id), .unique(let id): current = ViewKey(key.table, id)
            default: return nil
            }
        }
        return current == key ? nil : current.id
    }

    /// Computes the view of a state.
    public init(of states: [TableName: [RowID: RowState]], schema: ViewSchema) {
        var computation = ViewComputation(states, schema)
        computation.run()
        shown = computation.shown.mapValues { $0.values.sorted { $0.id < $1.id } }
        held = computation.held
        late = computation.late
        emptied = computation.emptied
        rings = computation.rings
    }
}
