public import Changes
public import Stores

/// The data of a store that would sync, and those that would not, for a person to see before it takes part.
public struct SyncPreview: Sendable {
    /// A table that syncs.
    public struct Table: Sendable {
        /// The criterion by which rows on two devices are the same row.
        public enum Identity: String, Sendable {
            case key, content, named
        }

        public var name: String
        public var identity: Identity
        /// The columns that identify its rows; empty if their content does.
        public var columns: [String]
        /// The number of rows; `nil` if they could not be counted.
        public var rows: Int64?
    }

    public let tables: [Table]
    public let leftOut: [LeftOut]
    public let refusals: [SyncRefusal]
    /// The names in the map that the store does not have.
    public let unknownNames: [String]

    /// Examines a store.
    ///
    /// - Parameters:
    ///   - snapshot: the store.
    ///   - map: the group's map.
    ///   - checkCancellation: a closure that is called during long queries, and throws to end them.
    /// - Throws: `StoreError`.
    public init(
        of snapshot: StoreSnapshot,
        map: SyncMap,
        checkCancellation: @escaping () throws -> Void = {}
    ) throws {
        let schema = try SyncSchema(of: snapshot, rules: SchemaRules(map))
        let report = try snapshot.report(
            hasSupportDirectory: false,
            checkCancellation: checkCancellation
        )
        let counts = Dictionary(
            report.facts.tables.map { ($0.name, $0.rows) },
            uniquingKeysWith: { first, _ in first }
        )
        tables = schema.tables.map { Table($0, rows: counts[$0.name] ?? nil) }
        leftOut = schema.leftOut
        refusals = schema.refusals
        unknownNames = schema.unknownNames
    }
}

extension SyncPreview.Table {
    fileprivate init(_ table: SyncTable, rows: Int64?) {
        let places: [Int]
        switch table.identity {
        case .key(let columns): (identity, places) = (.key, columns)
        case .content: (identity, places) = (.content, [])
        case .named(let columns): (identity, places) = (.named, columns)
        }
        name = table.name
        columns = places.map { table.schema.columns[$0].name }
        self.rows = rows
    }
}
