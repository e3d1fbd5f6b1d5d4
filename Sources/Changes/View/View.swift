/// A row as a schema shows it.
public struct ViewRow: Hashable, Sendable {
    public let id: RowID
    public let birth: Stamp
    /// One for each column of the table, in the table's order; references name rows that are shown.
    public internal(set) var values: [Value]

    /// Whether it was there before another: by birth, then id.
    func isOlder(than other: ViewRow) -> Bool {
        birth != other.birth ? birth < other.birth : id < other.id
    }
}

/// A row of a table: ids alone may be the same in two tables, if a container wants it so.
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
/// This is the full computation. It is simple and slow, and what a faster one is held to.
public struct View {
    /// Why a row is alive and not shown.
    public enum Reason: Hashable, Sendable {
        /// Its insert has not come yet.
        case unborn
        /// The schema has no such table.
        case noTable
        /// It names a row where the schema has no reference.
        case noReference(ColumnName)
        /// It is the same as another row, which stands for it.
        case same(RowID)
        /// It breaks NOT NULL, a CHECK or a type.
        case refused
        /// The row that it refers to is not shown; `nil` if it names none that can be.
        case parent(TableName, RowID?)
        /// It has the UNIQUE key of another row, which stands for it.
        case unique(RowID)
        /// Tables that refer to each other found no end.
        case unsettled
    }

    /// The rows of each table of the schema, rising by id.
    public let shown: [TableName: [ViewRow]]
    /// The rows that are alive and not shown.
    public let held: [ViewKey: Reason]
    /// Of those, the rows that were held once others were in place: which ones depends on the order.
    public let late: Set<ViewKey>

    /// The row that is shown where another one is named; `nil` if it is that row itself, or none.
    public func standIn(for key: ViewKey) -> RowID? {
        var current = key
        while let reason = held[current] {
            switch reason {
            // What stands for a row may itself have the key of an older one.
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
    }
}
