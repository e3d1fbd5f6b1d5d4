internal import Stores

/// How a table of a Core Data store travels: by the names of its entity and their properties, since the
/// numbers in its tables' and columns' names change with the model.
struct CoreDataTable: Equatable, Sendable {
    /// A reference to rows of an entity's table.
    struct Reference: Equatable, Sendable {
        /// The name of the table, in ASCII lower case.
        var parent: String
        /// Whether a row cannot be without it: the model says so, or deletes the row along with it.
        var isRequired: Bool
    }

    struct Column: Equatable, Sendable {
        /// In ASCII lower case.
        var wireName: String
        /// Whether its values are numbers of entities.
        var isEntity = false
        var reference: Reference?
        /// Whether it may be a reference, and only the map can say so.
        var isUncertain = false
    }

    /// The counter of an entity's keys.
    struct Counter: Equatable, Sendable {
        /// The entity's number.
        var entity: Int64
        var greatestKey: Int64
    }

    /// In ASCII lower case.
    var wireName: String
    /// By their places; those that travel.
    var columns: [Int: Column] = [:]
    /// The place of `Z_OPT`, by which an application notices that a row was written by others.
    var version: Int?
    /// The places of columns with the number of a reference's entity, and those of the references.
    ///
    /// They do not travel: of a reference and such a number two devices might each win one.
    var entities: [Int: Int] = [:]
    /// `nil` of a table that joins two others.
    var counter: Counter?
    var numbers: EntityNumbers

    /// The places of the columns that do not travel.
    var local: Set<Int> { Set(entities.keys).union(version.map { [$0] } ?? []) }

    /// The places of the key's columns in an order that is the same on all devices.
    func identity(_ key: [Int]) -> [Int] {
        key.sorted { (columns[$0]?.wireName ?? "") < (columns[$1]?.wireName ?? "") }
    }
}

extension CoreDataStore {
    /// Returns how a table travels; `nil` if it is none of the model's.
    func table(_ schema: TableSchema) -> CoreDataTable? {
        let name = schema.name.foldedIdentifier
        if let root = entities.first(where: { $0.parent == 0 && table(of: $0) == name }) {
            return CoreDataNaming(self).table(schema, of: root)
        }
        return CoreDataNaming(self).join(schema)
    }

    /// Whether a table that does not travel is Core Data's own, and not the application's.
    func owns(_ table: TableSchema) -> Bool {
        let name = table.name.foldedIdentifier
        return name.hasPrefix("z") || name.hasPrefix("ansck")
            || ["achange", "atransaction", "atransactionstring"].contains(name)
    }
}
