internal import Backups
internal import Files
internal import Operations

/// A backup, and whether the keys at hand open it.
struct KeyCheckRow: AnswerRow {
    var name: String
    var encrypted: Bool
    /// Whether it can be read: it is not encrypted, or a key opens it.
    var opens: Bool
    /// Why not.
    var reason: String?

    init(_ item: CheckKeys.Item) {
        name = item.backup.name
        encrypted = item.backup.isEncrypted
        opens = item.failure == nil
        reason = item.failure.map { explain($0) }
    }

    static func write(_ rows: [KeyCheckRow], to console: Console) {
        let cells = rows.map { row in
            [row.name, row.reason ?? (row.encrypted ? "opens" : "not encrypted")]
        }
        console.answer(lines: Columns(rows: cells, right: []).lines)
    }
}
