internal import ArgumentParser
internal import Operations
internal import Sample

struct SampleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "sample",
        "Make the sample store, and show or change the items in it.",
        example: "grocerydude sample",
        "grocerydude sample add Honey 2 jar",
        "grocerydude sample export list.json",
        aliases: ["items"],
        subcommands: [
            InitCommand.self, Show.self, Add.self, Remove.self, Export.self, Import.self,
        ],
        defaultSubcommand: Show.self
    )

    struct Show: InvokedCommand {
        static let configuration = CommandConfiguration(
            "show",
            "Show all items.",
            example: "grocerydude sample"
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
            example: "grocerydude sample add Honey 2 jar"
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
            return try invocation.done("added '\(name)'", ["added": name])
        }
    }

    struct Remove: InvokedCommand {
        static let configuration = CommandConfiguration(
            "remove",
            "Remove the items with a name.",
            example: "grocerydude sample remove Honey"
        )

        @Argument(help: "The items' name.")
        var name: String

        @OptionGroup(title: HelpSection.common) var stores: StoresOptions
        @OptionGroup(title: HelpSection.common) var output: OutputOptions

        func run(_ invocation: Invocation) async throws -> CommandResult {
            let count = try GroceryStore(in: invocation.stores).remove(name: name)
            return try invocation.done(
                "removed \(count) × '\(name)'",
                ["removed": name, "count": count]
            )
        }
    }
}
