public import Backups
public import Stores

/// A row, and what became of it from backup to backup.
public struct RowHistory: Sendable {
    /// A state of the stores directory.
    public enum Place: Sendable, Equatable {
        case backup(Backup)
        /// The stores directory as it is now.
        case live
    }

    /// What happened to the row between two states that follow each other.
    public enum Change: Sendable, Equatable {
        /// It was not there before, as far as is known; its values.
        case first([RowChange.Cell])
        /// The values that changed.
        case changed([RowChange.Cell])
        /// It is not there any more.
        case gone
        /// It was gone before; the values that are others than when it went.
        case back([RowChange.Cell])
        /// Whether it is there is not known, from this state to another; why.
        case unknown(until: Place, reason: String)
    }

    /// A change, and the first state that has it.
    public struct Event: Sendable {
        public var place: Place
        public var change: Change
        /// Of a row that is gone, or not known, and that was there before: the last state that has it.
        public var last: Place?
    }

    /// What is known of it in the newest state.
    public enum End: Sendable, Equatable {
        case there, gone, unknown
    }

    /// The store's path, printable.
    public var store: String
    public var table: String
    /// The entity that the table is for, in a store of Core Data.
    public var entity: String?
    /// The values by which it is known.
    public var key: [(column: String, value: RowChange.Value)]
    /// The names of attributes by those of columns.
    public var properties: [String: String]
    /// In the order of time.
    public var events: [Event]
    /// The first and the last state that have it.
    public var first: Place
    public var last: Place
    /// What is known of it at last, in `newest`.
    public var end: End
    public var newest: Place
}
