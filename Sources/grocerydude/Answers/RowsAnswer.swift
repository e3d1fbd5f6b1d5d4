internal import Backups
internal import Files
internal import Operations
internal import Stores

/// The answer about rows that were or would be brought back.
struct RowsAnswer: Answer, JSONConvertible {
    let outcome: ReturnRows.Outcome
    let isDryRun: Bool

    var json: JSONObject {
        let rows = outcome.rows
        return [
            "messageType": "rows", "name": outcome.backup.name, "store": outcome.store,
            "table": outcome.table, "entity": outcome.entity, "inserted": rows.inserted,
            "replaced": rows.replaced, "skipped": rows.skipped, "unchanged": rows.unchanged,
            "removed": rows.removed, "removedRows": rows.removedKeys,
            "alongside": alongside.map { ["table": $0.table, "rows": $0.rows] as JSONObject },
            "files": outcome.files, "lostColumns": outcome.lostColumns,
            "safetyBackup": outcome.safetyBackup?.name, "dryRun": isDryRun,
            "problems": outcome.problems,
        ]
    }

    /// The numbers of rows that triggers and foreign keys deleted or changed, by table; tables without rowids have
    /// no name here.
    private var alongside: [(table: String?, rows: Int64)] {
        outcome.rows.alongside.sorted { $0.key < $1.key }
            .map { ($0.key.isEmpty ? nil : $0.key, $0.value) }
    }

    /// A summary in one line.
    var line: String {
        let rows = outcome.rows
        var parts = [
            "\(counted(Int(rows.inserted), "row", "rows")) \(isDryRun ? "would come back" : "back")"
        ]
        if rows.replaced > 0 {
            parts.append("\(rows.replaced) \(isDryRun ? "would be replaced" : "replaced")")
        }
        if rows.skipped > 0 {
            parts.append("\(rows.skipped) left as they are though they differ")
        }
        if rows.unchanged > 0 { parts.append("\(rows.unchanged) there already") }
        if outcome.files > 0 {
            parts.append("with \(counted(outcome.files, "file", "files"))")
        }
        let name = outcome.entity ?? outcome.table
        return "\(name) in '\(outcome.store)': \(parts.joined(separator: ", "))"
    }

    /// The other changes in one line: other rows that were deleted, and what triggers and foreign keys did; `nil` if
    /// nothing did.
    var lossLine: String? {
        let (removed, alongside) = (outcome.rows.removed, alongside)
        let tables = alongside.map { "\($0.rows) of \($0.table.map { "'\($0)'" } ?? "others")" }
            .joined(separator: ", ")
        guard removed > 0 else {
            let verb = isDryRun ? "would change" : "changed"
            return alongside.isEmpty
                ? nil : "triggers and foreign keys \(verb) rows too: \(tables)"
        }
        let shown = outcome.rows.removedKeys
        let more = removed - Int64(shown.count)
        let keys = shown.joined(separator: "; ") + (more > 0 ? "; and \(more) more" : "")
        let rows = counted(Int(removed), "other row", "other rows")
        let verb = isDryRun ? "would be deleted" : removed == 1 ? "was deleted" : "were deleted"
        let text = "\(rows) with \(removed == 1 ? "its" : "their") unique values \(verb): \(keys)"
        if alongside.isEmpty { return text }
        return "\(text); triggers and foreign keys also remove or change: \(tables)"
    }

    func write(to console: Console) {
        console.done(line, isDryRun: isDryRun)
        lossLine.map { console.warn($0) }
        if !outcome.lostColumns.isEmpty {
            let names = outcome.lostColumns.map { "'\($0)'" }.joined(separator: ", ")
            console.warn(
                "their values do not come back, since the table has no such columns: \(names)"
            )
        }
        if let safety = outcome.safetyBackup {
            // Files beside the store belong to the rows.
            console.message(
                "the data from before is in '\(safety.displayName)': to undo, run \(UndoHint.command(safety, only: [outcome.store]))"
            )
        }
    }
}
