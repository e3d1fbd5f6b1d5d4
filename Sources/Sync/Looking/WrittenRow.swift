public import Stores

/// A row of the store that an exchange writes, or has written.
public struct WrittenRow: Sendable {
    /// The ways in which a row changes.
    public enum Change: String, Sendable, CaseIterable {
        case inserted, updated, deleted
    }

    /// The table's name in the store.
    public var table: String
    public var change: Change
    /// The row's primary key.
    public var key: [StoredValue]
}

extension WrittenRow {
    init(_ step: WritePlan.Step) {
        table = step.table.schema.name
        switch step.change {
        case .insert: change = .inserted
        case .update: change = .updated
        case .delete: change = .deleted
        }
        key = step.key.values
    }
}
