internal import Changes
public import Files
public import Stores

/// A table that syncs.
public struct SyncTable: Sendable {
    /// The criterion by which rows on two devices are the same row.
    public enum Identity: Equatable, Sendable {
        /// The values of the primary key, by the indices of its columns.
        case key([Int])
        /// The content of a row when it was first seen, or a random number.
        ///
        /// The number of the row is valid in this file only.
        case content
        /// The values, at insertion, of the columns that the map names.
        case named([Int])
    }

    public let schema: TableSchema
    /// The table's wire name, in ASCII lower case.
    public let wireName: String
    public let identity: Identity
    /// The columns that sync, in the table's order.
    public let columns: [SyncColumn]
    public let references: [SyncReference]
    /// The number of its cycle of references, if any; a reference to itself is a cycle, too.
    public internal(set) var cycle: Int?
    /// Its form in change files, if it belongs to a Core Data store.
    var coreData: CoreDataTable?

    public var name: String { schema.name }

    /// Whether the rows' numbers are valid in this file only; other devices assign their own.
    public var hasOwnNumbers: Bool {
        guard let alias = schema.rowIDAlias else { return false }
        return !columns.contains { $0.place == alias }
    }
}

/// A column that syncs.
public struct SyncColumn: Equatable, Sendable {
    /// The column's index in the table.
    public let place: Int
    /// The column's wire name, in ASCII lower case.
    public let wireName: String
    /// The index of the table's reference that the column is; its values are sent as row ids.
    public let reference: Int?
    /// Whether its values are numbers of Core Data's entities, which are sent as names.
    var isEntity = false
    /// The directory of the files that its values name, below the stores directory; `nil` if the map names none.
    var files: RelativePath?
}

/// A reference to rows of a table that syncs.
public struct SyncReference: Equatable, Sendable {
    /// The indices of its columns.
    public let columns: [Int]
    /// The name of the table that it refers to, in ASCII lower case.
    public let parent: ExactString
    /// The indices of the columns that it refers to.
    public let parentColumns: [Int]
    public let onDelete: ReferenceSchema.Action
    /// Whether the schema declares it, and not only the map.
    public let isDeclared: Bool
    /// Whether a row is not shown without the referenced row, although its columns may be NULL.
    var isRequired = false
}

/// A trigger of a table that syncs, or of one that such a trigger writes to.
public struct SyncTrigger: Equatable, Sendable {
    /// The treatment of a trigger while others' changes are written.
    public enum Treatment: Sendable {
        /// The trigger does not run: its effects elsewhere arrive as changes.
        case off
        /// A copy of the trigger runs: it writes data that do not sync.
        case copied
    }

    public let name: String
    public let table: String
    public let sql: String
    public let treatment: Treatment
    /// The changes that it makes to data that sync.
    let effects: TriggerEffects
    /// A function or collation that only the application has; `nil` if it needs none.
    var need: String?
}

extension SyncTable {
    /// Sorts tables so that each comes after those that it refers to, and numbers the cycles.
    ///
    /// The tables of a cycle are adjacent, in the order of their names.
    static func parentsFirst(_ tables: [SyncTable]) -> [SyncTable] {
        let tables = tables.sorted { $0.name.foldedIdentifier < $1.name.foldedIdentifier }
        let places = Dictionary(
            tables.indices.map { (tables[$0].name.foldedIdentifier, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let parents = tables.map { $0.references.compactMap { places[$0.parent] } }
        var sorted: [SyncTable] = []
        var cycles = 0
        for group in ReferenceGroup.parentsFirst(parents) {
            for place in group.places {
                var table = tables[place]
                table.cycle = group.isCyclic ? cycles : nil
                sorted.append(table)
            }
            if group.isCyclic { cycles += 1 }
        }
        return sorted
    }
}
