internal import Files

/// The key by which the same row is recognised in two states of a table.
public enum TableIdentity: Sendable, Equatable {
    /// The rowid, which may be a column.
    case rowID
    /// The primary key, by its bytes and not by its collation.
    case primaryKey
    /// All values of a row: no key identifies rows, or each state has a different key.
    case content

    /// Finds the best identity that two states of a table share.
    ///
    /// - Parameters:
    ///   - old: the table in one state.
    ///   - new: the table in the other state.
    ///   - isUTF8: whether both stores keep texts in UTF-8; rows with keys in other encodings cannot be read in
    ///     order.
    public init(of old: TableSchema, and new: TableSchema, isUTF8: Bool) {
        func key(_ table: TableSchema) -> [ExactString] {
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

    /// Finds the identity by which a store itself identifies a table's rows.
    public init(inStore table: TableSchema) {
        self = table.isWithoutRowID ? .primaryKey : table.rowIDName != nil ? .rowID : .content
    }

    /// The order in which a cursor reads rows with this identity.
    public var order: TableCursor.Order {
        switch self {
        case .rowID: .local
        case .primaryKey: .primaryKey
        case .content: .content
        }
    }
}
