/// A configuration to begin with.
struct ConfigExampleAnswer: Answer {
    var example = configurationExample

    func write(to console: Console) { console.answer(text: example) }
}
