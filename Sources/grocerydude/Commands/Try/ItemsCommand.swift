internal import ArgumentParser

struct ItemsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "items",
        abstract: "Show or change the items in the sample store.",
        discussion: """
            EXAMPLE
              grocerydude items
              grocerydude items add Honey --quantity 2 --unit jar
            """,
        subcommands: [ItemsShowCommand.self, ItemsAddCommand.self, ItemsRemoveCommand.self],
        defaultSubcommand: ItemsShowCommand.self
    )
}
