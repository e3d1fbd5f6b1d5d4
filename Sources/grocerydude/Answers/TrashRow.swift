internal import Backups
internal import Files

/// A deleted backup that can come back.
struct TrashRow: AnswerRow {
    var name: String
    var displayName: String
    var size: Int64
    var deleted: LocalTime

    init(_ backup: TrashedBackup, _ invocation: Invocation) {
        name = backup.name
        displayName = backup.displayName
        size = backup.size
        deleted = invocation.local(backup.deleted)
    }

    static func write(_ rows: [TrashRow], to console: Console) {
        let cells = rows.map { [$0.displayName, byteCount($0.size), "deleted \($0.deleted)"] }
        console.answer(lines: Columns(rows: cells, right: [1]).lines)
        if rows.isEmpty { console.message("there are no deleted backups") }
    }
}
