/// The answer of a command: JSON for programs, lines for people.
protocol Answer: Encodable {
    /// Writes the answer for people.
    func write(to console: Console)
}

/// One of several results of a command; together they are a list in JSON.
protocol AnswerRow: Encodable {
    /// Writes all rows for people.
    static func write(_ rows: [Self], to console: Console)
}

extension Array: Answer where Element: AnswerRow {
    func write(to console: Console) {
        Element.write(self, to: console)
    }
}

/// A line about completed work; programs get the facts instead.
struct DoneAnswer: Answer {
    let facts: any Encodable
    let line: String
    var isDryRun = false

    func encode(to encoder: any Encoder) throws { try facts.encode(to: encoder) }

    func write(to console: Console) { console.done(line, isDryRun: isDryRun) }
}
