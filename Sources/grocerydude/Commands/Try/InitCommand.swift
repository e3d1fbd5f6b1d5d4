internal import Sample
internal import ArgumentParser
internal import Operations
internal import Stores
internal import SystemPackage

struct InitCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Create a sample store, a grocery list, to try things with.",
        discussion: """
            EXAMPLE
              grocerydude init --test-data
            """
    )

    @OptionGroup var stores: StoresOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Add about 20 MB of items with photos, which are files beside the store.")
    var testData = false

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let store = try GroceryStore.create(in: invocation.stores, withTestData: testData)
        let path = invocation.stores.appending(GroceryStore.fileName).string
        try invocation.console.answer(InitAnswer(path: path, items: store.items().count))
        return CommandResult(.done)
    }
}
