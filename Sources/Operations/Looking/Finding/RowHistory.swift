public import Backups
public import Stores

/// A row, and its changes from backup to backup.
public struct RowHistory: Sendable {
    /// A state of the stores directory.
    public enum Place: Sendable, Equatable {
        case backup(Backup)
        /// The stores directory as it is now.
        case live
    }

    /// A change of the row between two consecutive states.
    public enum Change: Sendable, Equatable {
        /// The first state known to contain the row; its values.
        case first([RowChange.Cell])
        /// The values that changed.
        case changed([RowChange.Cell])
        /// The row was deleted.
        case gone
        /// The row came back; the values that differ from when it was deleted.
        case back([RowChange.Cell])
        /// It is not known whether the row exists, from this state until another; the reason.
        case unknown(until: Place, reason: String)
    }

    /// A change, and the first state that shows it.
    public struct Event: Sendable {
        public var place: Place
        public var change: Change
        /// The last state with the row, if it is gone or unknown here and existed before.
        public var last: Place?
    }

    /// The row in one state, compared with the state before.
    public enum Mark: UInt8, Sendable {
        case absent, same, changed, appeared, gone, unknown
    }

    /// The row's status in the newest state.
    public enum End: Sendable, Equatable {
        case there, gone, unknown
    }

    /// The store's path, printable.
    public var store: String
    public var table: String
    /// The entity that the table belongs to, in a Core Data store.
    public var entity: String?
    /// The values that identify the row.
    public var key: [(column: String, value: RowChange.Value)]
    /// The attribute names by column name.
    public var properties: [String: String]
    /// The changes, oldest first.
    public var events: [Event]
    /// The first and the last state that contain the row.
    public var first: Place
    public var last: Place
    /// The last state with the values before the last change; `nil` if they never changed.
    public var beforeChange: Place?
    /// The row's status in `newest`.
    public var end: End
    public var newest: Place
    /// The row in each state, oldest first.
    public var life: [Mark]
    /// A condition in SQL that only this row meets; `nil` if its key is too large.
    public var condition: String?

    /// The backup that has the row as it was before it was lost or changed, if it can be restored from there.
    public var source: Backup? {
        guard newest == .live else { return nil }
        let place = end == .there ? beforeChange : last
        guard case .backup(let backup)? = place else { return nil }
        return backup
    }
}
