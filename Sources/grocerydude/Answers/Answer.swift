/// Something that a command has to say: to programs as JSON, to people as lines.
protocol Answer: Encodable {
    /// Writes the answer for people.
    func write(to console: Console)
}

/// One of several things that a command has to say; together they are a list in JSON.
protocol AnswerRow: Encodable {
    /// Writes all rows for people.
    static func write(_ rows: [Self], to console: Console)
}

extension Array: Answer where Element: AnswerRow {
    func write(to console: Console) {
        Element.write(self, to: console)
    }
}
