internal import Changes

/// A value or a row that the store does not show any more, or an edit that lost, with the value that won.
struct Conflict {
    /// The way in which it went.
    enum Kind: String {
        /// A later edit of the same cell won, whose author had not received this one.
        case edited
        /// The row was deleted elsewhere.
        case deleted
        /// The row was deleted and inserted again elsewhere.
        case inserted
        /// The row was deleted here and has another key elsewhere, by which it stays.
        case renamed
        /// An edit here overwrote a value that had arrived and was not written yet.
        case overwritten
        /// Two devices began with different values.
        case seed
        /// Another row has the same unique value.
        case yielded
        /// A row that it belongs to is not shown, or the store's schema refuses it.
        case hidden
        /// The row that a reference names is not shown.
        case emptied
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
    /// The values of the row as the store had it; `nil` for a single value.
    var cells: [(column: ColumnName, value: Value)]?
    /// Whether an edit of this device lost.
    var isConflict = true

    /// Creates the record of a row that is about to leave the store, or of a cell that is about to change.
    init(
        _ kind: Kind,
        _ table: TableName,
        _ id: RowID,
        cell: (column: ColumnName, lost: Value, winner: Cell?)? = nil,
        cells: [(column: ColumnName, value: Value)]? = nil,
        by device: DeviceID = .zero
    ) {
        self.kind = kind
        self.table = table
        self.id = id
        column = cell?.column
        won = cell?.winner?.value
        lost = cell?.lost
        wonBy = cell?.winner?.stamp.device ?? device
        lostBy = .zero
        self.cells = cells
        isConflict = false
    }

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
