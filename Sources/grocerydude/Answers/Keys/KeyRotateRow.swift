internal import Backups
internal import Files
internal import Operations

/// A backup that was encrypted anew, or the reason why not.
struct KeyRotateRow: AnswerRow {
    var name: String
    var rotated: Bool
    /// Why it was left as it was.
    var reason: String?

    init(_ item: RotateKeys.Item) {
        name = item.backup.name
        rotated = item.rotated != nil
        reason = item.failure.map { explain($0) }
    }

    static func write(_ rows: [KeyRotateRow], to console: Console) {
        let cells = rows.map { [$0.name, $0.reason ?? "encrypted anew"] }
        console.answer(lines: Columns(rows: cells, right: []).lines)
    }
}
