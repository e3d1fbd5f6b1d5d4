internal import Files
internal import Operations
internal import Sync

/// The answer about a store that takes part in sync now, or would.
struct SyncEnableAnswer: Answer, JSONConvertible {
    let outcome: EnableSync.Outcome
    let isDryRun: Bool
    let invocation: Invocation

    private var plan: EnableSync.Plan { outcome.plan }
    /// The copy of the store from before it joined.
    private var before: String? { outcome.before.map { printable($0) } }
    /// The first exchange.
    private var first: SyncRunAnswer? {
        outcome.synced.map { SyncRunAnswer([$0], invocation) }
    }

    var json: JSONObject {
        [
            "messageType": "summary", "store": plan.store, "group": plan.group,
            "container": plan.container, "device": plan.device, "begins": plan.look.begins,
            "devices": plan.look.devices, "match": plan.match?.rawValue, "tables": tables,
            "leftOut": plan.preview.leftOut.map {
                ["table": $0.table, "reason": $0.description] as JSONObject
            },
            "findings": plan.proposal?.findings ?? [], "before": before, "dryRun": isDryRun,
            "exchange": first?.stores.first,
        ]
    }

    /// The tables, with the numbers of rows in both the store and the group, in only one of them, and deleted by
    /// others, unless the store begins the group.
    private var tables: [JSONObject] {
        plan.preview.tables.map { table in
            let join = plan.join?.tables[table.name]
            return [
                "name": table.name, "identity": table.identity.rawValue, "columns": table.columns,
                "rows": table.rows, "alike": join?.alike, "yielding": join?.yielding,
                "onlyHere": join?.onlyHere, "onlyThere": join?.onlyThere,
                "deletedThere": join?.deletedThere, "doubled": join?.doubled,
            ]
        }
    }

    func write(to console: Console) {
        guard !isDryRun else {
            console.answer(lines: ["would do: \(plan.headline)"] + plan.lines)
            return
        }
        first?.write(to: console)
        if let before { console.message("the store as it was is kept in '\(before)'") }
    }
}

extension Console {
    /// Shows the plan that the user has to confirm.
    func show(_ plan: EnableSync.Plan) {
        for line in [plan.headline] + plan.lines { message(line) }
    }
}

extension EnableSync.Plan {
    fileprivate var headline: String {
        if look.begins { return "'\(store)' begins '\(group)' in '\(container)'" }
        let names = look.devices.isEmpty ? "" : " with \(look.devices.joined(separator: ", "))"
        return "'\(store)' joins '\(group)'\(names) in '\(container)'"
    }

    fileprivate var lines: [String] {
        let rows = preview.tables.map { table in
            let columns = table.columns.map { "'\($0)'" }.joined(separator: ", ")
            let how = columns.isEmpty ? "their content" : columns
            let count = table.rows.map { counted(Int($0), "row", "rows") } ?? "rows"
            return [
                "  \(table.name)", count,
                "known by \(how)" + (join?.tables[table.name]?.words ?? ""),
            ]
        }
        let again = "  '\(device)' took part before: rows without keys are matched by their content"
        let doubled = counts(\.doubled) { rows, table in
            "\(rows) of '\(table)' would appear twice: '--match content' matches equal rows"
        }
        let yielding = counts(\.yielding) { rows, table in
            "\(rows) of '\(table)' get the group's values; 'grocerydude sync conflicts' then lists those here"
        }
        return Columns(rows: rows, right: [1]).lines + (match == .again ? [again] : []) + doubled
            + yielding
            + preview.leftOut.map { "  left out: \($0)" } + (proposal?.findings ?? []).lines
            + [filesDoubt, joinDoubt].compactMap { $0.map { "  \($0)" } }
    }

    /// Returns a line for each table with such rows, sorted by name.
    private func counts(
        _ count: KeyPath<JoinPreview.Table, Int64>,
        _ words: (_ rows: String, _ table: String) -> String
    ) -> [String] {
        (join?.tables ?? [:]).filter { $0.value[keyPath: count] > 0 }.sorted { $0.key < $1.key }
            .map { "  " + words(counted(Int($1[keyPath: count]), "row", "rows"), $0) }
    }
}

extension [MapProposal.Finding] {
    /// The findings for people, guesses first.
    var lines: [String] {
        let sorted = filter(\.isGuess) + filter { !$0.isGuess }
        return sorted.map { finding in
            let kind = finding.isGuess ? "guess" : "note"
            return "  \(kind): '\(finding.subject)' \(finding.rule): \(finding.evidence)"
        }
    }
}

extension JoinPreview.Table {
    /// The result for the rows in a few words.
    fileprivate var words: String {
        let parts = [
            (alike, "alike"), (onlyHere, "only here"), (onlyThere, "only there"),
            (deletedThere, "deleted there"),
        ].filter { $0.0 > 0 }.map { "\($0) \($1)" }
        return parts.isEmpty ? "" : ": \(parts.joined(separator: ", "))"
    }
}
