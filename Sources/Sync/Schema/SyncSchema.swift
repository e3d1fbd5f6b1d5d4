internal import Changes
public import Files
public import Stores

/// The parts of a store that sync and those that do not, with the reasons.
public struct SyncSchema: Sendable {
    /// The tables that sync: parents before their children, except within a cycle.
    public private(set) var tables: [SyncTable] = []
    /// The tables that do not sync, in the order of their names.
    public private(set) var leftOut: [LeftOut] = []
    /// The reasons why nothing syncs until a person decides; empty if all is well.
    public private(set) var refusals: [SyncRefusal] = []
    public private(set) var triggers: [SyncTrigger] = []
    /// The names in the map that the store does not have: the store may be an older version's.
    public private(set) var unknownNames: [String] = []
    /// The references of tables that do not sync to tables that do.
    private(set) var outsideReferences: [OutsideReference] = []
    /// The references among tables that do not sync.
    private(set) var nestedReferences: [OutsideReference] = []
    /// The counter of the store's schema changes.
    public let version: Int64
    /// Whether the store belongs to Core Data.
    public private(set) var isCoreData = false
    /// The SHA-256 of the canonical texts of the tables that sync; for equality and messages only.
    public private(set) var digest: Digest

    /// Returns the table with a name, regardless of the case of ASCII letters.
    public func table(_ name: String) -> SyncTable? { table(name.foldedIdentifier) }

    /// Returns the table with a name in ASCII lower case.
    func table(_ folded: ExactString) -> SyncTable? {
        tables.first { $0.name.foldedIdentifier == folded }
    }

    /// Examines a store, in the snapshot's transaction.
    ///
    /// - Parameters:
    ///   - snapshot: the store.
    ///   - rules: the rules of the group's map.
    /// - Throws: `StoreError`.
    public init(of snapshot: StoreSnapshot, rules: SchemaRules) throws {
        let schema = try snapshot.schema()
        let coreData = try CoreDataStore(ReadableStore(snapshot), schema)
        try self.init(of: schema, rules: rules, coreData) { table, column, parent in
            try snapshot.seemsToRefer(from: table, column, to: parent)
        }
    }

    /// Examines a schema.
    ///
    /// - Parameters:
    ///   - schema: the store's schema.
    ///   - rules: the rules of the group's map.
    ///   - coreData: the description of the store, if it belongs to Core Data.
    ///   - seemsToRefer: a closure that returns whether a column has values, and all are keys of a table.
    /// - Throws: `StoreError`; any error of `seemsToRefer`.
    init(
        of schema: StoreSchema,
        rules: SchemaRules,
        _ coreData: CoreDataStore?,
        seemsToRefer: (TableSchema, Int, TableSchema) throws -> Bool
    ) throws {
        version = schema.version
        digest = Self.digest(of: [])
        unknownNames = rules.unknownNames(in: schema)
        if schema.encoding != "UTF-8" { refusals.append(.encoding(schema.encoding)) }
        if let coreData, coreData.entities.isEmpty {
            refusals.append(.coreData)
            return
        }
        let probe = try SchemaProbe(schema)
        var qualified: [Qualified] = []
        for table in schema.tables {
            let sharesKey = probe.keepsOneNumber(table)
            switch Qualified.Verdict(of: table, rules, coreData, sharesKey: sharesKey) {
            case .syncs(let table): qualified.append(table)
            case .leftOut(let reason):
                leftOut.append(LeftOut(table: table.name, reason: reason))
            case .refused(let refusal): refusals.append(refusal)
            }
        }
        let references = try References(
            among: qualified,
            in: schema,
            rules: rules,
            seemsToRefer: seemsToRefer
        )
        refusals += references.refusals
        tables = SyncTable.parentsFirst(
            qualified.map { $0.table(references.found[$0.name] ?? [], rules) }
        )
        refusals += tables.sameNames
        (outsideReferences, nestedReferences) = outsideReferences(in: schema)
        digest = Self.digest(of: tables)
        (isCoreData, leftOut) = (coreData != nil, leftOut + tables.unnamedColumns)
        for table in tables {
            refusals += Self.refusals(of: probe.writing(to: table.schema), table)
        }
        let judged = TriggerJudge(tables: tables, schema: schema, rules: rules, probe: probe)
        triggers = judged.triggers
        refusals += judged.refusals
    }

    /// Returns the references of tables that do not sync: to tables that do, and among each other.
    private func outsideReferences(
        in schema: StoreSchema
    ) -> ([OutsideReference], [OutsideReference]) {
        let others = schema.tables.filter { table($0.name) == nil && $0.kind == .table }
        let outside = others.flatMap { references(of: $0) { table($0)?.schema } }
        let nested = others.flatMap { child in
            references(of: child) { name in
                others.first { $0.name.foldedIdentifier == name.foldedIdentifier }
            }
        }
        return (outside, nested)
    }

    /// Returns the references of a table to those that a closure finds.
    private func references(
        of child: TableSchema,
        parent find: (String) -> TableSchema?
    ) -> [OutsideReference] {
        child.references.compactMap { reference in
            guard let parent = find(reference.parent) else { return nil }
            let targets = reference.parentColumns?.compactMap(parent.column) ?? parent.primaryKey
            guard targets.count == reference.columns.count else { return nil }
            return OutsideReference(
                table: child,
                columns: reference.columns,
                parent: parent.name.foldedIdentifier,
                parentColumns: targets,
                onDelete: reference.onDelete
            )
        }
    }

    private static func digest(of tables: [SyncTable]) -> Digest {
        let text = tables.sorted { $0.name < $1.name }.map { table in
            // For other tables, the names in the schema determine the wire names.
            let names = table.coreData == nil ? [] : table.columns.map(\.wireName)
            return table.schema.canonicalText + names.joined(separator: "\n")
        }.joined()
        return Array(text.utf8).withUnsafeBytes { Digest(of: $0) }
    }

    /// Returns the refusals that follow from a trial of writing to a table.
    private static func refusals(
        of outcome: SchemaProbe.Outcome,
        _ table: SyncTable
    ) -> [SyncRefusal] {
        if let reason = outcome.failure { return [.unwritable(table: table.name, reason: reason)] }
        let collations = outcome.missingCollations.sorted().map { collation in
            let keys = table.schema.indexes.flatMap(\.keys)
            let key = keys.first { $0.collation.foldedIdentifier == collation.foldedIdentifier }
            return SyncRefusal.collation(
                table: table.name,
                column: key?.column.map { table.schema.columns[$0].name },
                collation: collation
            )
        }
        return collations
            + outcome.missingFunctions.sorted().map { .function(table: table.name, function: $0) }
    }
}

extension [SyncTable] {
    /// The columns whose names cannot be in change files.
    fileprivate var unnamedColumns: [LeftOut] {
        flatMap { table in
            table.columns.filter { ColumnName($0.wireName) == nil }.map {
                let name = table.schema.columns[$0.place].name
                return LeftOut(table: table.name, reason: .column(name))
            }
        }
    }

    /// The refusals of wire names that two tables, or two columns of one table, share.
    fileprivate var sameNames: [SyncRefusal] {
        var refusals: [SyncRefusal] = []
        var tables: [ExactString: String] = [:]
        for table in self {
            if let other = tables.updateValue(table.name, forKey: table.wireName.exact) {
                refusals.append(.sameName(other, other: table.name))
            }
            var columns: [ExactString: String] = [:]
            for column in table.columns {
                let name = "\(table.name).\(table.schema.columns[column.place].name)"
                if let other = columns.updateValue(name, forKey: column.wireName.exact) {
                    refusals.append(.sameName(other, other: name))
                }
            }
        }
        return refusals
    }
}

extension SchemaRules {
    /// Returns the names of tables, columns and triggers that a store does not have.
    fileprivate func unknownNames(in schema: StoreSchema) -> [String] {
        var unknown = exclude.filter { schema.table($0) == nil }
        for (name, rules) in tables {
            guard let table = schema.table(name) else {
                unknown.insert(name)
                continue
            }
            let columns = Set(rules.renamed.keys).union(rules.references.keys).union(rules.local)
                .union(rules.identity ?? []).union(rules.files.keys)
            for column in columns where table.column(column) == nil {
                unknown.insert("\(name).\(column)".exact)
            }
        }
        let known = Set(schema.tables.flatMap(\.triggers).map(\.name.foldedIdentifier))
        return unknown.union(Set(triggers.keys).subtracting(known)).sorted().map(\.text)
    }
}

/// A reference from a table that does not sync.
struct OutsideReference: Sendable {
    let table: TableSchema
    let columns: [Int]
    /// The name of the table that it refers to, in ASCII lower case.
    let parent: ExactString
    let parentColumns: [Int]
    let onDelete: ReferenceSchema.Action

    /// Whether it keeps the rows that it names from being deleted.
    var forbidsDeletion: Bool { [.none, .restrict].contains(onDelete) }
}
