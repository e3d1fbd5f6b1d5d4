internal import ArgumentParser
internal import Operations
internal import Sample

struct ItemsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "items",
        "Show or change the items in the sample store.",
        example: "grocerydude items",
        "grocerydude items add Honey 2 jar",
        "grocerydude items export list.json",
        subcommands: [Show.self, Add.self, Remove.self, Export.self, Import.self],
        defaultSubcommand: Show.self
    )

    struct Show: InvokedCommand {
        static let configuration = CommandConfiguration(
            "show",
            "Show all items.",
            example: "grocerydude items"
        )

        @OptionGroup(title: HelpSection.common) var stores: StoresOptions
        @OptionGroup(title: HelpSection.common) var output: OutputOptions

        func run(_ invocation: Invocation) async throws -> CommandResult {
            let items = try GroceryStore(in: invocation.stores).items()
            return try invocation.answer(items.map(ItemRow.init))
        }
    }

    struct Add: InvokedCommand {
        static let configuration = CommandConfiguration(
            "add",
            "Add an item to the list.",
            example: "grocerydude items add Honey 2 jar"
        )

        @Argument(help: "The item to buy.")
        var name: String

        @Argument(help: "How much of it.")
        var quantity: Double = 1

        @Argument(help: "The unit of the quantity.")
        var unit: String?

        @OptionGroup(title: HelpSection.common) var stores: StoresOptions
        @OptionGroup(title: HelpSection.common) var output: OutputOptions

        func validate() throws {
            guard !name.isEmpty else { throw ValidationError("an item needs a name") }
            guard quantity.isFinite, quantity >= 0 else {
                throw ValidationError("a quantity cannot be \(quantity)")
            }
        }

        func run(_ invocation: Invocation) async throws -> CommandResult {
            try GroceryStore(in: invocation.stores).add(name: name, quantity: quantity, unit: unit)
            return try invocation.answer(
                DoneAnswer(facts: ["added": name], line: "added '\(name)'")
            )
        }
    }

    struct Remove: InvokedCommand {
        static let configuration = CommandConfiguration(
            "remove",
            "Remove the items with a name.",
            example: "grocerydude items remove Honey"
        )

        @Argument(help: "The items' name.")
        var name: String

        @OptionGroup(title: HelpSection.common) var stores: StoresOptions
        @OptionGroup(title: HelpSection.common) var output: OutputOptions

        private struct Facts: Encodable {
            var removed: String
            var count: Int
        }

        func run(_ invocation: Invocation) async throws -> CommandResult {
            let count = try GroceryStore(in: invocation.stores).remove(name: name)
            let facts = Facts(removed: name, count: count)
            return try invocation.answer(
                DoneAnswer(facts: facts, line: "removed \(count) × '\(name)'")
            )
        }
    }
}
