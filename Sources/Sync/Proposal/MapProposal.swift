public import Changes
internal import Files
public import Stores

/// The rules that a store's map should have, with their evidence, for a person to confirm.
///
/// A schema does not say which numbers name rows, and which columns a trigger computes. The rows show it.
public struct MapProposal: Sendable {
    /// A statement about the store.
    public struct Finding: Codable, Equatable, Sendable {
        /// The table, or the table and its column.
        public var subject: String
        /// The rule that follows.
        public var rule: String
        public var evidence: String
        /// Whether the rule may be wrong, so that a person has to confirm it.
        public var isGuess: Bool
    }

    public private(set) var findings: [Finding] = []
    /// The given map with a rule for each guess.
    public private(set) var map: SyncMap

    /// The statements that a person has to confirm.
    public var guesses: [Finding] { findings.filter(\.isGuess) }

    /// Examines a store.
    ///
    /// - Parameters:
    ///   - snapshot: the store.
    ///   - map: the rules that a person has given; nothing that they settle is proposed.
    ///   - checkCancellation: a closure that is called during long queries, and throws to end them.
    /// - Throws: `StoreError`; any error of `checkCancellation`.
    public init(
        of snapshot: StoreSnapshot,
        map: SyncMap,
        checkCancellation: @escaping () throws -> Void = {}
    ) throws {
        self.map = map
        let schema = try SyncSchema(of: snapshot, rules: SchemaRules(map))
        // A Core Data model declares its references, and its numbers mean nothing elsewhere.
        guard !schema.isCoreData else { return }
        let values = ColumnValues(snapshot, check: checkCancellation)
        try proposeReferences(schema, values)
        for table in schema.tables {
            try proposeKey(table, schema, values)
            try reportReferences(table, schema, values)
            reportUniqueKeys(table)
        }
        proposeTriggers(schema)
        proposeExclusions(schema)
    }

    private mutating func add(
        _ subject: String,
        _ rule: String,
        _ evidence: String,
        isGuess: Bool = false
    ) {
        findings.append(
            Finding(subject: subject, rule: rule, evidence: evidence, isGuess: isGuess)
        )
    }

    private mutating func edit(_ table: SyncTable, _ change: (inout SyncMap.Table) -> Void) {
        guard let name = TableName(table.name) else { return }
        change(&map.tables[name, default: SyncMap.Table()])
    }

    // MARK: - References

    private mutating func proposeReferences(
        _ schema: SyncSchema,
        _ values: ColumnValues
    ) throws {
        let search = ReferenceSearch(in: schema, values)
        for table in schema.tables {
            let rules = TableName(table.name).flatMap { map.tables[$0]?.references } ?? [:]
            for column in table.columns where column.reference == nil {
                let name = table.schema.columns[column.place].name
                guard let key = ColumnName(name), rules[key] == nil,
                    !table.schema.references.contains(where: { $0.columns.contains(column.place) }),
                    let found = try search.parent(of: column.place, in: table)
                else { continue }
                edit(table) { table in
                    table.references[key] =
                        found.table.flatMap(TableName.init).map { .table($0) }
                        ?? SyncMap.Reference.none
                }
                add(
                    "\(table.name).\(name)",
                    found.table.map { "names rows of '\($0)'" } ?? "names no rows",
                    found.evidence,
                    isGuess: true
                )
            }
        }
    }

    /// Reports the references that the schema declares and the rows, or the types, do not keep.
    private mutating func reportReferences(
        _ table: SyncTable,
        _ schema: SyncSchema,
        _ values: ColumnValues
    ) throws {
        for reference in table.references where reference.isDeclared {
            guard let parent = schema.table(reference.parent), let place = reference.columns.first,
                let key = reference.parentColumns.first
            else { continue }
            let (column, target) = (table.schema.columns[place], parent.schema.columns[key])
            let subject = "\(table.name).\(column.name)"
            if reference.columns.count == 1, column.affinity != target.affinity {
                add(
                    subject,
                    "names rows as SQLite compares them",
                    "its type is '\(column.declaredType)', that of '\(parent.name).\(target.name)' '\(target.declaredType)'"
                )
            }
            let orphans = try values.orphans(of: reference, in: table.schema, parent.schema)
            if orphans > 0 {
                add(
                    subject,
                    "values that name no row stay as they are",
                    "\(counted(orphans, "row of", "rows of")) '\(table.name)' name none of '\(parent.name)'"
                )
            }
        }
    }

    // MARK: - Keys

    private mutating func proposeKey(
        _ table: SyncTable,
        _ schema: SyncSchema,
        _ values: ColumnValues
    ) throws {
        guard let name = TableName(table.name), map.tables[name]?.key == nil,
            table.schema.primaryKey.count == 1, let place = table.schema.primaryKey.first,
            table.schema.columns[place].affinity == .integer
        else { return }
        let column = "\(table.name).\(table.schema.columns[place].name)"
        if table.hasOwnNumbers, let child = schema.generatedColumn(naming: table) {
            let evidence =
                "the generated column '\(child)' computes it from values that travel as they are"
            return share(table, column, evidence, isGuess: false)
        }
        let range = try values.range(of: place, in: table.schema)
        if table.hasOwnNumbers {
            let evidence = table.evidenceOfSharedNumbers(range, named: table.schema.columns[place])
            if let evidence { share(table, column, evidence, isGuess: true) }
            return
        }
        if let range, range.count >= 8, table.schema.rowIDAlias == nil, case .key = table.identity,
            range.least == 1, range.greatest <= 2 * Int64(range.count),
            !table.references.contains(where: { $0.columns == [place] })
        {
            edit(table) { $0.key = .shared }
            add(
                column,
                "rows with the same number become one row",
                "its numbers run from 1 to \(range.greatest): two devices would give the next one to two rows",
                isGuess: true
            )
        }
    }

    private mutating func share(
        _ table: SyncTable,
        _ column: String,
        _ evidence: String,
        isGuess: Bool
    ) {
        edit(table) { $0.key = .shared }
        add(column, "a number means the same row on all devices", evidence, isGuess: isGuess)
    }

    private mutating func reportUniqueKeys(_ table: SyncTable) {
        var isIdentified = table.identity != .content
        for index in table.schema.indexes where index.isUnique && index.origin != .primaryKey {
            let places = index.keys.compactMap(\.column)
            guard places.count == index.keys.count, !places.isEmpty else { continue }
            if case .named(let named) = table.identity, Set(named) == Set(places) { continue }
            let columns = places.map { "'\(table.schema.columns[$0].name)'" }
                .joined(separator: ", ")
            let names = places.compactMap { ColumnName(table.schema.columns[$0].name) }
            if !isIdentified, !index.isPartial, names.count == places.count, isLink(table, places) {
                isIdentified = true
                edit(table) { $0.identity = names }
                add(
                    table.name,
                    "rows with the same \(columns) become one row",
                    "each links the same rows, and only one may"
                )
                continue
            }
            add(
                table.name,
                "if two rows have the same \(columns), the later one waits",
                "only one may have it; 'identity' in the map would make them one row"
            )
        }
    }

    /// Returns whether columns of a table are references that a row has to have.
    private func isLink(_ table: SyncTable, _ places: [Int]) -> Bool {
        let rules = TableName(table.name).flatMap { map.tables[$0]?.references } ?? [:]
        return places.count > 1
            && places.allSatisfy { place in
                let column = table.schema.columns[place]
                let rule = ColumnName(column.name).flatMap { rules[$0] }
                let isProposed = if case .table = rule { true } else { false }
                return column.isNotNull
                    && (isProposed || table.references.contains { $0.columns == [place] })
            }
    }

    // MARK: - Tables

    /// Proposes to leave out tables that seem to record what was done to this file.
    private mutating func proposeExclusions(_ schema: SyncSchema) {
        let parents = Set(map.tables.values.flatMap(\.references.values))
        for table in schema.tables {
            guard LeftOut.perhapsMigrationTables.contains(table.name.foldedIdentifier.text),
                table.references.isEmpty, let name = TableName(table.name),
                map.tables[name] == nil, !parents.contains(.table(name)), !schema.isParent(table)
            else { continue }
            map.exclude.insert(name)
            add(
                table.name,
                "is left out",
                "by its name it records the upgrades of this file, which other devices do themselves",
                isGuess: true
            )
        }
    }

    // MARK: - Triggers

    private mutating func proposeTriggers(_ schema: SyncSchema) {
        for trigger in schema.triggers {
            let name = TableName(trigger.name)
            guard let name, map.triggers[name] == nil, !trigger.name.hasPrefix("Z_DA_") else {
                continue
            }
            if trigger.sql.uppercased().contains("RAISE") {
                add(
                    trigger.name,
                    "holds on each device by itself",
                    "rows of other devices do not run this trigger"
                )
            }
            for column in trigger.effects.columns.sorted(by: { "\($0)" < "\($1)" }) {
                guard let table = schema.table(column.table) else { continue }
                propose(column, of: table, trigger, name)
            }
        }
    }

    /// Proposes that a column that a trigger updates stays on each device.
    private mutating func propose(
        _ column: SchemaProbe.Column,
        of table: SyncTable,
        _ trigger: SyncTrigger,
        _ name: TableName
    ) {
        guard let key = ColumnName(column.name.text), let place = table.schema.column(column.name),
            let tableName = TableName(table.name),
            map.tables[tableName]?.local.contains(key) != true
        else { return }
        let subject = "\(table.name).\(table.schema.columns[place].name)"
        let evidence =
            "the trigger '\(trigger.name)' writes it"
            + (trigger.need.map { ", which needs \($0) of the application" } ?? "")
        guard trigger.effects.tables.isEmpty, trigger.need == nil, table.canLeave(place) else {
            map.triggers[name] = .skip
            add(
                subject,
                "travels as it is",
                "\(evidence), and others' rows do not run it",
                isGuess: true
            )
            return
        }
        edit(table) { $0.local.insert(key) }
        add(subject, "is computed on each device, and does not travel", evidence, isGuess: true)
    }
}

extension ColumnSchema {
    /// Whether its name says that its numbers mean nothing but their rows.
    fileprivate var hasNameOfNumber: Bool {
        let name = name.lowercased()
        return name.hasSuffix("id") || ["pk", "key", "no", "nr", "num", "number"].contains(name)
    }
}

extension SyncSchema {
    /// Returns whether rows of other tables refer to a table.
    fileprivate func isParent(_ table: SyncTable) -> Bool {
        let name = table.name.foldedIdentifier
        return tables.contains { $0.references.contains { $0.parent == name } }
    }

    /// Returns a generated column that refers to a table's rows by their numbers; `nil` if there is none.
    fileprivate func generatedColumn(naming parent: SyncTable) -> String? {
        for table in tables {
            for reference in table.schema.references
            where reference.parent.foldedIdentifier == parent.name.foldedIdentifier {
                let targets = reference.parentColumns?.compactMap(parent.schema.column)
                guard parent.schema.areRowID(targets ?? parent.schema.primaryKey) else { continue }
                let column = reference.columns.map { table.schema.columns[$0] }
                    .first(where: \.isGenerated)
                if let column { return "\(table.name).\(column.name)" }
            }
        }
        return nil
    }
}

extension SyncTable {
    /// The last words in names of tables that have one row for an application.
    private static let singletons: Set<String> = [
        "config", "configuration", "meta", "metadata", "options", "preferences", "prefs", "profile",
        "setting", "settings",
    ]

    /// Returns the reason why its rows' numbers seem to mean something on all devices; `nil` if they do not.
    ///
    /// - Parameters:
    ///   - range: the numbers; `nil` if the table has no rows.
    ///   - column: the column that has them.
    /// - Returns: the reason.
    fileprivate func evidenceOfSharedNumbers(
        _ range: ColumnValues.Range?,
        named column: ColumnSchema
    ) -> String? {
        if ReferenceSearch.isTime(column.name) { return "its name means a time" }
        guard let range else { return nil }
        let word = name.foldedIdentifier.text.split(separator: "_").last.map(String.init) ?? ""
        if range.count == 1, range.least == 0 || Self.singletons.contains(word) {
            return "it has one row, with the number \(range.least)"
        }
        let span = Double(range.greatest) - Double(range.least) + 1
        if range.count >= 8, span > 1000 * Double(range.count) {
            return "the numbers of its \(range.count) rows are far apart"
        }
        // Counted numbers begin at 1, unless the first rows are gone; those of times do not.
        let isCounted =
            range.least < 1000 || column.hasNameOfNumber && range.least < 100_000_000
        return isCounted ? nil : "its numbers run from \(range.least) to \(range.greatest)"
    }

    /// Returns whether rows of other devices can be shown without a value for a column.
    fileprivate func canLeave(_ place: Int) -> Bool {
        let column = schema.columns[place]
        let isKey =
            schema.primaryKey.contains(place)
            || schema.indexes.contains { $0.isUnique && $0.keys.contains { $0.column == place } }
            || references.contains { $0.columns.contains(place) }
        if case .named(let places) = identity, places.contains(place) { return false }
        return !isKey && (!column.isNotNull || column.defaultValue != .constant(.null))
    }
}
