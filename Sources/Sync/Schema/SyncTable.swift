public import Stores

/// A table that syncs.
public struct SyncTable: Sendable {
    /// What makes two rows on two devices the same row.
    public enum Identity: Equatable, Sendable {
        /// The values of the primary key: the places of its columns.
        case key([Int])
        /// The content of a row as it was first seen, or a random number: the number of the row is
        /// this file's alone.
        case content
        /// The values of the columns that the map names, as the row was inserted.
        case named([Int])
    }

    public let schema: TableSchema
    /// The name by which it travels, in ASCII lower case.
    public let wireName: String
    public let identity: Identity
    /// The columns that travel, in the table's order.
    public let columns: [SyncColumn]
    public let references: [SyncReference]
    /// The number of the cycle of references that it is in, be it by a reference to itself.
    public internal(set) var cycle: Int?
    /// How it travels if it is of a Core Data store.
    var coreData: CoreDataTable?

    public var name: String { schema.name }

    /// Whether the rows' numbers are this file's alone: others give them their own.
    public var hasOwnNumbers: Bool {
        guard let alias = schema.rowIDAlias else { return false }
        return !columns.contains { $0.place == alias }
    }
}

/// A column that travels.
public struct SyncColumn: Equatable, Sendable {
    /// Its place among the table's columns.
    public let place: Int
    /// The name by which it travels, in ASCII lower case.
    public let wireName: String
    /// The place among the table's references of that which it is; its values travel as row ids.
    public let reference: Int?
    /// Whether its values are numbers of Core Data's entities, which travel as their names.
    var isEntity = false
}

/// A reference to rows of a table that syncs.
public struct SyncReference: Equatable, Sendable {
    /// The places of its columns.
    public let columns: [Int]
    /// The table that it refers to, in ASCII lower case.
    public let parent: String
    /// The places of the columns that it refers to.
    public let parentColumns: [Int]
    public let onDelete: ReferenceSchema.Action
    /// Whether the schema has it, and not the map alone.
    public let isDeclared: Bool
    /// Whether a row is not shown without the row that it refers to, though its columns may be NULL.
    var isRequired = false
}

/// A trigger of a table that syncs, or of one that such a trigger writes to.
public struct SyncTrigger: Equatable, Sendable {
    /// What becomes of it while changes of others are written.
    public enum Treatment: Sendable {
        /// It does not run: what it did elsewhere arrives as changes.
        case off
        /// It runs as a copy: what it writes does not sync.
        case copied
    }

    public let name: String
    public let table: String
    public let sql: String
    public let treatment: Treatment
}
