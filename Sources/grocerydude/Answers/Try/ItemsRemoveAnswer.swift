/// The items that were removed.
struct ItemsRemoveAnswer: Answer {
    var removed: String
    var count: Int

    func write(to console: Console) { console.done("removed \(count) × '\(removed)'") }
}
