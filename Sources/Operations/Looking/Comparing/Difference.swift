internal import Files
public import Stores

/// Something that differs between two states of a stores directory.
public enum Difference: Sendable {
    case file(FileDifference)
    /// A store of which rows or tables differ; what differs comes after it.
    case store(StoreDifference)
    /// A store that could not be read; it is compared as a file, which comes after it.
    case unread(UnreadStore)
    case table(TableDifference)
    /// A row of the table that came before.
    case row(RowDifference)
    /// More rows of the table differ than were wanted: so many.
    case moreRows(Int64)
    /// A statement of those that turn the old store into the new one.
    case statement(String)
}

/// A file, a directory or a link that differs.
public struct FileDifference: Sendable {
    /// Of what a file differs in.
    public enum Aspect: String, Sendable, Codable {
        case type, content, mode, owner, time
    }

    /// The path, printable.
    public var path: String
    /// `file`, `directory` or `link`.
    public var type: String
    public var change: SchemaDiff.Change
    /// What changed of one that both states have.
    public var aspects: [Aspect]
    /// Bytes; `nil` if the state has no such file.
    public var oldSize: Int64?
    public var newSize: Int64?
    /// The store whose rows may refer to it; `nil` if it is no external data.
    public var externalDataOf: String?
}

/// A store that differs.
public struct StoreDifference: Sendable {
    /// The path, printable.
    public var path: String
    public var change: SchemaDiff.Change
    /// What differs of the numbers that its application keeps in its header.
    public var numbers: [HeaderNumber] = []
}

/// A store that differs, and whose rows could not be compared.
public struct UnreadStore: Sendable {
    /// The path, printable.
    public var path: String
    /// Whether it could not be read in the stores directory; else in a backup.
    public var isLive: Bool
    /// The state in which it could not be read, in messages.
    public var place: String
    /// Why it could not be read.
    public var error: any Error

    /// Whether it is damaged.
    public var isDamaged: Bool { error.tellsDamage }

    /// What a person is told of it.
    public var warning: String {
        "in \(place): \(explain(error)); it is compared as a file"
    }
}

/// A table that differs.
public struct TableDifference: Sendable {
    /// One of which a module has the rows.
    public struct VirtualTable: Sendable, Hashable {
        public var name: String
        /// Whether texts are searched by it.
        public var isSearchIndex: Bool
    }

    /// The store's path, printable.
    public var store: String
    public var table: String
    /// The entity that the table is for, in a store of Core Data.
    public var entity: String?
    public var kind: TableSchema.Kind
    /// The virtual table that keeps its data in it; `nil` if it is no such table.
    public var virtualTable: VirtualTable?
    /// What differs in its schema; `nil` if nothing does.
    public var schema: SchemaDiff.Table?
    /// How many rows differ; `nil` if that is not known.
    public var rows: RowCounts?
    /// Why the rows could not be compared.
    public var failure: String?
    /// The names of attributes by those of columns, as far as they differ.
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
