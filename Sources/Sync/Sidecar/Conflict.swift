internal import Changes

/// An edit that lost, with the value that won.
struct Conflict: Equatable {
    /// The way in which an edit lost.
    enum Kind: String {
        /// A later edit of the same cell won, whose author had not received this one.
        case edited
        /// The row was deleted elsewhere.
        case deleted
        /// The row was deleted and inserted again elsewhere.
        case inserted
        /// An edit here overwrote a value that had arrived and was not written yet.
        case overwritten
        /// Two devices began with different values.
        case seed
    }

    var kind: Kind
    var table: TableName
    var id: RowID
    /// The column; `nil` for a row that was deleted without a cell of ours.
    var column: ColumnName?
    /// The value that won; `nil` if the row is deleted.
    var won: Value?
    var lost: Value?
    var wonBy: DeviceID
    var lostBy: DeviceID

    /// Creates the conflict of an edit with a row that was deleted or inserted again.
    init(_ kind: Kind, _ cell: Cell, of row: KnownRow, lost: Cell, by device: DeviceID) {
        self.kind = kind
        table = row.table
        id = row.id
        column = cell.column
        won = row.state.cell(cell.column)?.value
        self.lost = lost.value
        wonBy = row.state.isAlive ? row.state.birth?.device ?? .zero : row.state.deletion.device
        lostBy = device
    }

    /// Creates the conflict of a cell that lost to another one.
    init(_ kind: Kind, _ lost: Cell, of row: KnownRow, winner: Cell) {
        self.kind = kind
        table = row.table
        id = row.id
        column = lost.column
        won = winner.value
        self.lost = lost.value
        wonBy = winner.stamp.device
        lostBy = lost.stamp.device
    }
}
