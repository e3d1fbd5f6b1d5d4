/// A line about work that was done; programs get the facts instead.
struct DoneAnswer<Facts: Encodable>: Answer {
    let facts: Facts
    let line: String
    var isDryRun = false

    func encode(to encoder: any Encoder) throws { try facts.encode(to: encoder) }

    func write(to console: Console) { console.done(line, isDryRun: isDryRun) }
}
