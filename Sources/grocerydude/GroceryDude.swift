internal import ArgumentParser

@main
struct GroceryDude: AsyncParsableCommand {
    /// The program's version; semantic versioning.
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "grocerydude",
        abstract: "Backs up a directory of SQLite stores while it is in use, and restores it.",
        discussion: """
            EXAMPLE
              grocerydude init
              grocerydude backup
              grocerydude restore latest

            The stores directory is named by '--stores' or GROCERYDUDE_STORES, the folder that \
            backups go to by '--remote' or GROCERYDUDE_REMOTE.

            \(ExitStatus.help)
            """,
        version: version,
        subcommands: [
            InitCommand.self, ItemsCommand.self, BackupCommand.self, ListCommand.self,
            ShowCommand.self,
            RestoreCommand.self, DeleteCommand.self, StatusCommand.self, LogCommand.self,
        ]
    )
}
