internal import ArgumentParser
internal import Stores

struct ItemsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "items",
        abstract: "Show or change what is in the sample store.",
        discussion: """
            EXAMPLE
              grocerydude items
              grocerydude items add Honey --quantity 2 --unit jar

            \(ExitStatus.help)
            """,
        subcommands: [Show.self, Add.self, Remove.self],
        defaultSubcommand: Show.self
    )

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show all items.",
            discussion: "EXAMPLE\n  grocerydude items\n\n\(ExitStatus.help)"
        )

        @OptionGroup var stores: StoresOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Session.run(output, stores) { session in
                let items = try GroceryStore(in: session.stores).items()
                if output.json {
                    try session.console.answer(json: items.map(Row.init))
                } else {
                    let width = items.map(\.name.count).max() ?? 0
                    for item in items { session.console.answer(line(item, width: width)) }
                }
                return .done
            }
        }

        private func line(_ item: GroceryStore.Item, width: Int) -> String {
            let quantity =
                item.quantity == item.quantity.rounded() && abs(item.quantity) < 1e15
                ? String(Int(item.quantity)) : String(item.quantity)
            let amount = "\(quantity) \(item.unit ?? "")"
            let places = [item.locationAtHome, item.locationAtShop].compactMap(\.self).joined(
                separator: ", "
            )
            let photo = item.hasPhoto ? "  photo" : ""
            return
                "\(item.isListed ? "*" : " ") \(item.name.padded(to: width))  \(amount.padded(to: 12))\(places)\(photo)"
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add an item to the list.",
            discussion:
                "EXAMPLE\n  grocerydude items add Honey --quantity 2 --unit jar\n\n\(ExitStatus.help)"
        )

        @Argument(help: "What to buy.")
        var name: String

        @Option(help: "How much of it.")
        var quantity: Double = 1

        @Option(help: "What it is counted in.")
        var unit: String?

        @OptionGroup var stores: StoresOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard !name.isEmpty else { throw ValidationError("an item needs a name") }
            guard quantity.isFinite, quantity >= 0 else {
                throw ValidationError("a quantity cannot be \(quantity)")
            }
        }

        func run() async throws {
            try await Session.run(output, stores) { session in
                try GroceryStore(in: session.stores).add(
                    name: name,
                    quantity: quantity,
                    unit: unit
                )
                try session.tell(Change(added: name), "added '\(name)'")
                return .done
            }
        }

        private struct Change: Encodable { var added: String }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove the items with a name.",
            discussion: "EXAMPLE\n  grocerydude items remove Honey\n\n\(ExitStatus.help)"
        )

        @Argument(help: "The items' name.")
        var name: String

        @OptionGroup var stores: StoresOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Session.run(output, stores) { session in
                let count = try GroceryStore(in: session.stores).remove(name: name)
                try session.tell(
                    Change(removed: name, count: count),
                    "removed \(count) × '\(name)'"
                )
                return .done
            }
        }

        private struct Change: Encodable {
            var removed: String
            var count: Int
        }
    }

    /// An item in JSON.
    private struct Row: Encodable {
        var name: String
        var quantity: Double
        var unit: String?
        var listed: Bool
        var collected: Bool
        var locationAtHome: String?
        var locationAtShop: String?
        var photo: Bool

        init(_ item: GroceryStore.Item) {
            name = item.name
            quantity = item.quantity
            unit = item.unit
            listed = item.isListed
            collected = item.isCollected
            locationAtHome = item.locationAtHome
            locationAtShop = item.locationAtShop
            photo = item.hasPhoto
        }
    }
}

extension Session {
    /// Says what was done, in the form that was asked for.
    func tell(_ value: some Encodable, _ text: String) throws {
        if output.json {
            try console.answer(json: value)
        } else {
            console.done(text)
        }
    }
}
