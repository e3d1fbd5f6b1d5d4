internal import Sample
internal import ArgumentParser
internal import Operations
internal import Stores

struct ItemsShowCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show all items.",
        discussion: """
            EXAMPLE
              grocerydude items
            """
    )

    @OptionGroup var stores: StoresOptions
    @OptionGroup var output: OutputOptions

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let items = try GroceryStore(in: invocation.stores).items()
        try invocation.console.answer(items.map(ItemRow.init))
        return CommandResult(.done)
    }
}
