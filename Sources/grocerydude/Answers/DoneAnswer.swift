/// A line about what was done to something, which programs get the facts of.
struct DoneAnswer<Facts: Encodable>: Answer {
    let facts: Facts
    let line: String
    var isDryRun = false

    func encode(to encoder: any Encoder) throws { try facts.encode(to: encoder) }

    func write(to console: Console) { console.done(line, isDryRun: isDryRun) }
}
