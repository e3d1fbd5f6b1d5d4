internal import Sample
internal import ArgumentParser
internal import Operations
internal import Stores

struct ItemsRemoveCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove the items with a name.",
        discussion: """
            EXAMPLE
              grocerydude items remove Honey
            """
    )

    @Argument(help: "The items' name.")
    var name: String

    @OptionGroup var stores: StoresOptions
    @OptionGroup var output: OutputOptions

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let count = try GroceryStore(in: invocation.stores).remove(name: name)
        try invocation.console.answer(ItemsRemoveAnswer(removed: name, count: count))
        return CommandResult(.done)
    }
}
