internal import Stores

/// Judges triggers by what they write: see 'Triggers' in the documentation of sync.
struct TriggerJudge {
    private(set) var triggers: [SyncTrigger] = []
    private(set) var refusals: [SyncRefusal] = []

    /// What travels: names of columns by the names of tables, all in ASCII lower case.
    private let travelling: [String: Set<String>]
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
        // A copy that runs lets those of the tables that it writes to run as well.
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
    private mutating func judge(_ trigger: TriggerSchema, of table: TableSchema) -> Set<String> {
        let rule = rules.triggers[trigger.name.foldedIdentifier]
        // Core Data computes derived attributes by functions of its own; what they gave is data.
        if rule == .skip || trigger.name.hasPrefix("Z_DA_") {
            add(trigger, table, .off)
            return []
        }
        let outcome = probe.firing(trigger, of: table)
        if let reason = outcome.failure {
            refusals.append(.strangeTrigger(trigger.name, needs: "more (\(reason))"))
            return []
        }
        var (synced, others): (Set<String>, Set<String>) = ([], [])
        for name in outcome.changedTables {
            if travelling[name] != nil { synced.insert(name) } else { others.insert(name) }
        }
        for column in outcome.changedColumns {
            if travelling[column.table]?.contains(column.name) == true {
                synced.insert(column.table)
            } else {
                others.insert(
                    travelling[column.table] == nil
                        ? column.table : "\(column.table).\(column.name)"
                )
            }
        }
        if rule == nil, !synced.isEmpty, !others.isEmpty {
            refusals.append(.mixedTrigger(trigger.name, writes: synced.union(others).sorted()))
            return []
        }
        guard rule == .run || !others.isEmpty else {
            add(trigger, table, .off)
            return []
        }
        if let function = outcome.missingFunctions.min() {
            refusals.append(.strangeTrigger(trigger.name, needs: "the function '\(function)'"))
        } else if let collation = outcome.missingCollations.min() {
            refusals.append(.strangeTrigger(trigger.name, needs: "the collation '\(collation)'"))
        } else {
            add(trigger, table, .copied)
        }
        return outcome.changedTables.union(outcome.changedColumns.map(\.table))
    }

    private mutating func add(
        _ trigger: TriggerSchema,
        _ table: TableSchema,
        _ treatment: SyncTrigger.Treatment
    ) {
        triggers.append(
            SyncTrigger(
                name: trigger.name,
                table: table.name,
                sql: trigger.sql,
                treatment: treatment
            )
        )
    }
}
