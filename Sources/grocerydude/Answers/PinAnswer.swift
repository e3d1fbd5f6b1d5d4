/// A backup that was pinned or unpinned.
struct PinAnswer: Answer {
    var row: BackupRow

    func encode(to encoder: any Encoder) throws { try row.encode(to: encoder) }

    func write(to console: Console) {
        console.done("\(row.pinned ? "pinned" : "unpinned") '\(row.displayName)'")
    }
}
