public import Changes
public import Stores

/// What would sync of a store, and what would not: what a person is shown before it takes part.
public struct SyncPreview: Sendable {
    /// A table that syncs.
    public struct Table: Sendable {
        /// What makes two rows on two devices the same row.
        public enum Identity: String, Sendable {
            case key, content, named
        }

        public var name: String
        public var identity: Identity
        /// The columns that its rows are known by; none if that is their content.
        public var columns: [String]
        /// `nil` if they could not be counted.
        public var rows: Int64?
    }

    public let tables: [Table]
    public let leftOut: [LeftOut]
    public let refusals: [SyncRefusal]
    /// Names in the map that the store has not.
    public let unknownNames: [String]

    /// Looks at a store.
    ///
    /// - Parameters:
    ///   - snapshot: the store.
    ///   - map: the group's map.
    ///   - checkCancellation: asked in the middle of long queries; what it throws ends them.
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
