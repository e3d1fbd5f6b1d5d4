internal import Backups
internal import Files
internal import Operations
internal import Stores

/// The rows that came back, or would.
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
    /// Other rows of the table that were deleted, since they had unique values of those that came back.
    var removed: Int64
    /// The keys of the first of them.
    var removedRows: [String]
    /// Rows that went or changed with those.
    var alongside: [Alongside]
    var files: Int
    /// Columns that the rows had, and that the table has no more.
    var lostColumns: [String]
    var safetyBackup: String?
    var dryRun: Bool
    var problems: [Problem]
    private let safety: String?
    /// What an undo has to name: files beside the store came with the rows.
    private var undone: [String] { [store] }

    /// How many rows of a table went or changed with those that were deleted.
    struct Alongside: Encodable {
        /// Missing of tables without rowids.
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
        safety = outcome.safetyBackup?.displayName
    }

    /// What was done, in one line.
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

    /// What is deleted for them, in one line; `nil` if nothing is.
    var lossLine: String? {
        guard removed > 0 else { return nil }
        let more = removed - Int64(removedRows.count)
        let keys = removedRows.joined(separator: "; ") + (more > 0 ? "; and \(more) more" : "")
        let rows = counted(Int(removed), "other row", "other rows")
        let verb = dryRun ? "would be deleted" : removed == 1 ? "was deleted" : "were deleted"
        var text =
            "\(rows) with \(removed == 1 ? "its" : "their") unique values \(verb): \(keys)"
        if !alongside.isEmpty {
            let tables = alongside.map { "\($0.rows) of \($0.table.map { "'\($0)'" } ?? "others")" }
            text +=
                "; by triggers and foreign keys went or changed with that: \(tables.joined(separator: ", "))"
        }
        return text
    }

    func write(to console: Console) {
        console.done(line, isDryRun: dryRun)
        lossLine.map(console.message)
        if !lostColumns.isEmpty {
            let names = lostColumns.map { "'\($0)'" }.joined(separator: ", ")
            console.message("the table has no such columns any more: \(names)")
        }
        if let safety {
            console.message(
                "the data from before is in '\(safety)': to undo, run \(UndoHint.command(only: undone))"
            )
        }
    }
}
