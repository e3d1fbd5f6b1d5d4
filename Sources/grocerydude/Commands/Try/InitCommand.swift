internal import Sample
internal import ArgumentParser
internal import Operations
internal import SystemPackage

struct InitCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        "init",
        "Create a sample store, a grocery list, to try things with.",
        example: "grocerydude init --test-data"
    )

    @OptionGroup var stores: StoresOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Add about 20 MB of items with photos, which are files beside the store.")
    var testData = false

    private struct Facts: Encodable {
        var path: String
        var items: Int
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let store = try GroceryStore.create(in: invocation.stores, withTestData: testData)
        let path = invocation.stores.appending(GroceryStore.fileName).string
        let facts = try Facts(path: path, items: store.items().count)
        return try invocation.answer(
            DoneAnswer(facts: facts, line: "created '\(path)' with \(facts.items) items")
        )
    }
}
