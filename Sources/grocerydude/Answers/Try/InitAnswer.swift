/// The sample store that was created.
struct InitAnswer: Answer {
    var path: String
    var items: Int

    func write(to console: Console) {
        console.done("created '\(path)' with \(items) items")
    }
}
