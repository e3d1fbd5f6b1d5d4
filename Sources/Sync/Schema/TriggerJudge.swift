internal import Files
internal import Stores

/// The changes that a trigger makes to data that sync; all names are in ASCII lower case.
struct TriggerEffects: Equatable, Sendable {
    /// The tables that gain or lose rows.
    var tables: Set<ExactString> = []
    /// The columns that it updates.
    var columns: Set<SchemaProbe.Column> = []

    var isEmpty: Bool { tables.isEmpty && columns.isEmpty }

    /// All tables that it changes.
    var allTables: Set<ExactString> { tables.union(columns.map(\.table)) }
}

/// The judge of triggers by their effects: see 'Triggers' in the documentation of sync.
struct TriggerJudge {
    private(set) var triggers: [SyncTrigger] = []
    private(set) var refusals: [SyncRefusal] = []

    /// The names of the columns that sync, by the names of their tables, all in ASCII lower case.
    private let travelling: [ExactString: Set<ExactString>]
    private let rules: SchemaRules
    private let probe: SchemaProbe

    init(tables: [SyncTable], schema: StoreSchema, rules: SchemaRules, probe: SchemaProbe) {
        travelling = Dictionary(
            tables.map { table in
                let columns = table.columns.map { table.schema.columns[$0.place].name }
                return (table.name.foldedIdentifier, Set(columns.map(\.foldedIdentifier)))
            },
            uniquingKeysWith: { first, _ in first }
        )
        self.rules = rules
        self.probe = probe
        // A copy that runs also fires the triggers of the tables that it writes to.
        var waiting = tables.map(\.name.foldedIdentifier)
        var seen = Set(waiting)
        while let name = waiting.popLast() {
            guard let table = schema.table(name), table.kind == .table else { continue }
            for trigger in table.triggers {
                let written = judge(trigger, of: table)
                waiting += written.filter { seen.insert($0).inserted }
            }
        }
        triggers.sort { $0.name < $1.name }
    }

    /// Judges a trigger.
    ///
    /// - Returns: the tables that its copy writes to.
    private mutating func judge(_ trigger: TriggerSchema, of table: TableSchema) -> Set<ExactString>
    {
        let rule = rules.triggers[trigger.name.foldedIdentifier]
        // Core Data computes derived attributes by its own functions; their results are data.
        if rule == .skip || trigger.name.hasPrefix("Z_DA_") {
            add(trigger, table, .off)
            return []
        }
        let outcome = probe.firing(trigger, of: table)
        if let reason = outcome.failure {
            refusals.append(.strangeTrigger(trigger.name, needs: "more (\(reason))"))
            return []
        }
        let (effects, others) = effects(of: outcome)
        if rule == nil, !effects.isEmpty, !others.isEmpty {
            let written = effects.allTables.union(others).sorted().map(\.text)
            refusals.append(.mixedTrigger(trigger.name, writes: written))
            return []
        }
        guard rule == .run || !others.isEmpty else {
            add(trigger, table, .off, effects, need: outcome.need)
            return []
        }
        if let need = outcome.need {
            refusals.append(.strangeTrigger(trigger.name, needs: need))
        } else {
            add(trigger, table, .copied, effects)
        }
        return outcome.changedTables.union(outcome.changedColumns.map(\.table))
    }

    /// Parts the effects into those on data that sync, and the names of other tables and columns.
    private func effects(
        of outcome: SchemaProbe.Outcome
    ) -> (effects: TriggerEffects, others: Set<ExactString>) {
        var effects = TriggerEffects()
        var others: Set<ExactString> = []
        for name in outcome.changedTables {
            if travelling[name] != nil { effects.tables.insert(name) } else { others.insert(name) }
        }
        for column in outcome.changedColumns {
            if let names = travelling[column.table] {
                if names.contains(column.name) {
                    effects.columns.insert(column)
                } else {
                    others.insert("\(column.table).\(column.name)".exact)
                }
            } else {
                others.insert(column.table)
            }
        }
        return (effects, others)
    }

    private mutating func add(
        _ trigger: TriggerSchema,
        _ table: TableSchema,
        _ treatment: SyncTrigger.Treatment,
        _ effects: TriggerEffects = TriggerEffects(),
        need: String? = nil
    ) {
        triggers.append(
            SyncTrigger(
                name: trigger.name,
                table: table.name,
                sql: trigger.sql,
                treatment: treatment,
                effects: effects,
                need: need
            )
        )
    }
}

extension SchemaProbe.Outcome {
    /// A function or collation that only the application has; `nil` if nothing is missing.
    fileprivate var need: String? {
        missingFunctions.min().map { "the function '\($0)'" }
            ?? missingCollations.min().map { "the collation '\($0)'" }
    }
}
