/// A deleted backup that has come back.
struct UndeleteAnswer: Answer {
    var row: TrashRow

    func encode(to encoder: any Encoder) throws { try row.encode(to: encoder) }

    func write(to console: Console) { console.done("'\(row.displayName)' is back") }
}
