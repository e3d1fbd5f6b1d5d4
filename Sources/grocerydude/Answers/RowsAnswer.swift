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
    var files: Int
    /// Columns that the rows had, and that the table has no more.
    var lostColumns: [String]
    var safetyBackup: String?
    var dryRun: Bool
    var problems: [Problem]
    private let safety: String?

    private enum CodingKeys: CodingKey {
        case messageType, name, store, table, entity, inserted, replaced, skipped, unchanged, files
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

    func write(to console: Console) {
        console.done(line, isDryRun: dryRun)
        if !lostColumns.isEmpty {
            let names = lostColumns.map { "'\($0)'" }.joined(separator: ", ")
            console.message("the table has no such columns any more: \(names)")
        }
        if let safety {
            console.message(
                "the data from before is in '\(safety)': to undo, run 'grocerydude restore --undo'"
            )
        }
    }
}
