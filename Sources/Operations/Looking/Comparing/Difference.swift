internal import Files
public import Stores

/// A difference between two states of a stores directory.
public enum Difference: Sendable {
    case file(FileDifference)
    /// A store whose rows or tables differ; the differences follow.
    case store(StoreDifference)
    /// A store that could not be read; its difference as a file follows.
    case unread(UnreadStore)
    case table(TableDifference)
    /// A row of the preceding table.
    case row(RowDifference)
    /// The number of further differing rows of the table, beyond the limit.
    case moreRows(Int64)
    /// One of the statements that turn the old store into the new one.
    case statement(String)
}

/// A file, a directory or a link that differs.
public struct FileDifference: Sendable {
    /// The aspects in which files can differ.
    public enum Aspect: String, Sendable, Codable {
        case type, content, mode, owner, time
    }

    /// The path, printable.
    public var path: String
    /// `file`, `directory` or `link`.
    public var type: String
    public var change: SchemaDiff.Change
    /// The aspects that changed, if both states have the file.
    public var aspects: [Aspect]
    /// The size in bytes; `nil` if the state has no such file.
    public var oldSize: Int64?
    public var newSize: Int64?
    /// The store whose rows may refer to the file; `nil` if it is not external data.
    public var externalDataOf: String?
}

/// A store that differs.
public struct StoreDifference: Sendable {
    /// The path, printable.
    public var path: String
    public var change: SchemaDiff.Change
    /// The differences of the header numbers that the application sets.
    public var numbers: [HeaderNumber] = []
}

/// A store that differs, and whose rows could not be compared.
public struct UnreadStore: Sendable {
    /// The path, printable.
    public var path: String
    /// Whether it is the live store that could not be read; if not, it is a backup's.
    public var isLive: Bool
    /// The name of the state in which it could not be read, for messages.
    public var place: String
    /// The reason why it could not be read.
    public var error: any Error

    /// Whether the store is damaged.
    public var isDamaged: Bool { error.reportsDamage }

    /// The warning for the user, with advice.
    public var warning: String {
        error is FileError
            ? "in \(place): \(explain(error)); it is not compared"
            : "in \(place): \(explain(error)); it is compared as a file; \(hint)"
    }

    private var hint: String {
        switch error {
        case StoreError.busy, StoreError.busyWriting: return "close its application, and try again"
        case _ where !isDamaged: return "run 'grocerydude check' to see more"
        default: break
        }
        return isLive
            ? "put it back with \(Advice.quoted("grocerydude restore NAME --only \(Advice.part(path))")), or repair it: https://www.sqlite.org/recovery.html"
            : Advice.olderBackup
    }
}

/// A table that differs.
public struct TableDifference: Sendable {
    /// A virtual table, whose module keeps its rows.
    public struct VirtualTable: Sendable, Hashable {
        public var name: String
        /// Whether it is a full-text search index.
        public var isSearchIndex: Bool
    }

    /// The store's path, printable.
    public var store: String
    public var table: String
    /// The entity that the table belongs to, in a Core Data store.
    public var entity: String?
    public var kind: TableSchema.Kind
    /// The virtual table that keeps its data in this table; `nil` if this is not a shadow table.
    public var virtualTable: VirtualTable?
    /// The difference in its schema; `nil` if there is none.
    public var schema: SchemaDiff.Table?
    /// The numbers of differing rows; `nil` if they are not known.
    public var rows: RowCounts?
    /// The reason why the rows could not be compared.
    public var failure: String?
    /// The attribute names by column name, for the columns that have one.
    public var properties: [String: String]
}

/// A row that differs.
public struct RowDifference: Sendable {
    /// The store's path, printable.
    public var store: String
    public var table: String
    public var entity: String?
    public var change: RowChange
    public var properties: [String: String]
}
