internal import Sample
internal import ArgumentParser
internal import Operations
internal import Stores

struct ItemsAddCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an item to the list.",
        discussion: """
            EXAMPLE
              grocerydude items add Honey --quantity 2 --unit jar
            """
    )

    @Argument(help: "The item to buy.")
    var name: String

    @Option(help: "How much of it.")
    var quantity: Double = 1

    @Option(help: "The unit of the quantity.")
    var unit: String?

    @OptionGroup var stores: StoresOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !name.isEmpty else { throw ValidationError("an item needs a name") }
        guard quantity.isFinite, quantity >= 0 else {
            throw ValidationError("a quantity cannot be \(quantity)")
        }
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        try GroceryStore(in: invocation.stores).add(name: name, quantity: quantity, unit: unit)
        try invocation.console.answer(ItemsAddAnswer(added: name))
        return CommandResult(.done)
    }
}
