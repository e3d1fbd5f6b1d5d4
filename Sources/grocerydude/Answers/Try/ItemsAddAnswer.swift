/// The item that was added.
struct ItemsAddAnswer: Answer {
    var added: String

    func write(to console: Console) { console.done("added '\(added)'") }
}
