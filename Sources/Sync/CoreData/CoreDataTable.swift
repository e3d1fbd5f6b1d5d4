internal import Files
internal import Stores

/// The form of a Core Data table in change files, by the names of its entity and properties.
///
/// The numbers in the names of tables and columns change with the model.
struct CoreDataTable: Equatable, Sendable {
    /// A reference to rows of an entity's table.
    struct Reference: Equatable, Sendable {
        /// The table's name, in ASCII lower case.
        var parent: String
        /// Whether a row needs its parent: the model requires it, or deletes the row with the parent.
        var isRequired: Bool
    }

    struct Column: Equatable, Sendable {
        /// The column's wire name, in ASCII lower case.
        var wireName: String
        /// Whether its values are numbers of entities.
        var isEntity = false
        var reference: Reference?
        /// Whether it may be a reference, which only the map can decide.
        var isUncertain = false
    }

    /// The counter of an entity's keys.
    struct Counter: Equatable, Sendable {
        /// The entity's number.
        var entity: Int64
        var greatestKey: Int64
    }

    /// The table's wire name, in ASCII lower case.
    var wireName: String
    /// The columns that sync, by their indices.
    var columns: [Int: Column] = [:]
    /// The index of `Z_OPT`, by which an application notices other programs' writes.
    var version: Int?
    /// The indices of columns with the number of a reference's entity, with those of the references.
    ///
    /// They do not sync: two devices could each win one cell of the pair.
    var entities: [Int: Int] = [:]
    /// The counter; `nil` for a table that joins two others.
    var counter: Counter?
    var numbers: EntityNumbers

    /// The indices of the columns that do not sync.
    var local: Set<Int> { Set(entities.keys).union(version.map { [$0] } ?? []) }

    /// Returns the indices of the key's columns in an order that is the same on all devices.
    func identity(_ key: [Int]) -> [Int] {
        key.sorted { (columns[$0]?.wireName ?? "") < (columns[$1]?.wireName ?? "") }
    }
}

extension CoreDataStore {
    /// Returns the form of a table in change files; `nil` if the table is not in the model.
    func table(_ schema: TableSchema) -> CoreDataTable? {
        let name = schema.name.foldedIdentifier.text
        if let root = entities.first(where: { $0.parent == 0 && table(of: $0) == name }) {
            return CoreDataNaming(self).table(schema, of: root)
        }
        return CoreDataNaming(self).join(schema)
    }

    /// Returns whether a table that does not sync is Core Data's own, and not the application's.
    func owns(_ table: TableSchema) -> Bool {
        let name = table.name.foldedIdentifier.text
        return name.hasPrefix("z") || name.hasPrefix("ansck")
            || ["achange", "atransaction", "atransactionstring"].contains(name)
    }
}
