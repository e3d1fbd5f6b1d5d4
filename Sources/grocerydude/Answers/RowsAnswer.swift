internal import Backups
internal import Files
internal import Operations
internal import Stores

/// The answer about rows that were or would be brought back.
struct RowsAnswer: Answer {
    var messageType = "rows"
    var name: String
    var store: String
    var table: String
    var entity: String?
    var inserted: Int64
    var replaced: Int64
    var skipped: Int64
    var unchanged: Int64
    /// The number of other rows of the table that were deleted because they had unique values of restored rows.
    var removed: Int64
    /// The keys of the first of these rows.
    var removedRows: [String]
    /// The rows that triggers and foreign keys deleted or changed.
    var alongside: [Alongside]
    var files: Int
    /// The columns of the rows that the table no longer has.
    var lostColumns: [String]
    var safetyBackup: String?
    var dryRun: Bool
    var problems: [Problem]
    private let safety: Backup?
    /// The names for the undo; files beside the store belong to the rows.
    private var undone: [String] { [store] }

    /// The number of a table's rows that were deleted or changed with the deleted ones.
    struct Alongside: Encodable {
        /// The table; missing for tables without rowids.
        var table: String?
        var rows: Int64
    }

    private enum CodingKeys: CodingKey {
        case messageType, name, store, table, entity, inserted, replaced, skipped, unchanged, files
        case removed, removedRows, alongside
        case lostColumns, safetyBackup, dryRun, problems
    }

    init(_ outcome: ReturnRows.Outcome, isDryRun: Bool) {
        name = outcome.backup.name
        store = outcome.store
        table = outcome.table
        entity = outcome.entity
        inserted = outcome.rows.inserted
        replaced = outcome.rows.replaced
        skipped = outcome.rows.skipped
        unchanged = outcome.rows.unchanged
        removed = outcome.rows.removed
        removedRows = outcome.rows.removedKeys
        alongside = outcome.rows.alongside.sorted { $0.key < $1.key }
            .map { Alongside(table: $0.key.isEmpty ? nil : $0.key, rows: $0.value) }
        files = outcome.files
        lostColumns = outcome.lostColumns
        safetyBackup = outcome.safetyBackup?.name
        dryRun = isDryRun
        problems = outcome.problems
        safety = outcome.safetyBackup
    }

    /// A summary in one line.
    var line: String {
        var parts = [
            "\(counted(Int(inserted), "row", "rows")) \(dryRun ? "would come back" : "back")"
        ]
        if replaced > 0 { parts.append("\(replaced) \(dryRun ? "would be replaced" : "replaced")") }
        if skipped > 0 { parts.append("\(skipped) left as they are though they differ") }
        if unchanged > 0 { parts.append("\(unchanged) there already") }
        if files > 0 { parts.append("with \(counted(files, "file", "files"))") }
        return "\(entity ?? table) in '\(store)': \(parts.joined(separator: ", "))"
    }

    /// The other changes in one line: other rows that were deleted, and what triggers and foreign keys did; `nil` if
    /// nothing did.
    var lossLine: String? {
        let tables = alongside.map { "\($0.rows) of \($0.table.map { "'\($0)'" } ?? "others")" }
            .joined(separator: ", ")
        guard removed > 0 else {
            let verb = dryRun ? "would change" : "changed"
            return alongside.isEmpty
                ? nil : "triggers and foreign keys \(verb) rows too: \(tables)"
        }
        let more = removed - Int64(removedRows.count)
        let keys = removedRows.joined(separator: "; ") + (more > 0 ? "; and \(more) more" : "")
        let rows = counted(Int(removed), "other row", "other rows")
        let verb = dryRun ? "would be deleted" : removed == 1 ? "was deleted" : "were deleted"
        let text = "\(rows) with \(removed == 1 ? "its" : "their") unique values \(verb): \(keys)"
        if alongside.isEmpty { return text }
        return "\(text); triggers and foreign keys also remove or change: \(tables)"
    }

    func write(to console: Console) {
        console.done(line, isDryRun: dryRun)
        lossLine.map { console.warn($0) }
        if !lostColumns.isEmpty {
            let names = lostColumns.map { "'\($0)'" }.joined(separator: ", ")
            console.warn(
                "their values do not come back, since the table has no such columns: \(names)"
            )
        }
        if let safety {
            console.message(
                "the data from before is in '\(safety.displayName)': to undo, run \(UndoHint.command(safety, only: undone))"
            )
        }
    }
}
