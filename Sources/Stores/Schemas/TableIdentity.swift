/// How the rows of two states of a table are known to be the same.
public enum TableIdentity: Sendable, Equatable {
    /// The rowid, which may be a column.
    case rowID
    /// The primary key, in bytes and not by its collation.
    case primaryKey
    /// All their values: no key tells them, or each state has another one.
    case content

    /// Finds the best one that two states of a table share.
    ///
    /// - Parameters:
    ///   - old: the table as one state has it.
    ///   - new: as the other has it.
    ///   - isUTF8: whether both stores keep texts in UTF-8; the order of other keys cannot be told.
    public init(of old: TableSchema, and new: TableSchema, isUTF8: Bool) {
        func key(_ table: TableSchema) -> [String] {
            table.primaryKey.map { table.columns[$0].name.foldedIdentifier }
        }
        let haveRowIDs = old.rowIDName != nil && new.rowIDName != nil
        self =
            if old.rowIDAlias != nil, new.rowIDAlias != nil {
                .rowID
            } else if !old.primaryKey.isEmpty, key(old) == key(new), isUTF8 || !haveRowIDs {
                .primaryKey
            } else if haveRowIDs {
                .rowID
            } else {
                .content
            }
    }

    /// Finds the one by which a store itself knows a table's rows.
    public init(inStore table: TableSchema) {
        self = table.isWithoutRowID ? .primaryKey : table.rowIDName != nil ? .rowID : .content
    }

    /// The order in which a cursor reads rows that are known so.
    public var order: TableCursor.Order {
        switch self {
        case .rowID: .local
        case .primaryKey: .primaryKey
        case .content: .content
        }
    }
}
