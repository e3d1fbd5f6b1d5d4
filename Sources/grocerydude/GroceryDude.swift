internal import ArgumentParser
internal import Files
internal import Foundation
internal import Processes

@main
struct GroceryDude: AsyncParsableCommand {
    /// The program's version; semantic versioning.
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "grocerydude",
        abstract: "Backs up a directory of SQLite stores while it is in use, and restores it.",
        discussion: """
            The stores directory is named by '--stores' or GROCERYDUDE_STORES, the folder that \
            backups go to by '--remote' or GROCERYDUDE_REMOTE, or both by a profile of the \
            configuration; see 'grocerydude config example'.

            EXAMPLE
              grocerydude init
              grocerydude backup
              grocerydude restore latest

            \(ExitStatus.help)
            """,
        version: version,
        groupedSubcommands: [
            CommandGroup(name: "Back up", subcommands: [BackupCommand.self]),
            CommandGroup(
                name: "Get back",
                subcommands: [
                    RestoreCommand.self, ExtractCommand.self, CatCommand.self, UndeleteCommand.self,
                ]
            ),
            CommandGroup(
                name: "Look inside",
                subcommands: [
                    ListCommand.self, ShowCommand.self, DiffCommand.self, FindCommand.self,
                    SQLCommand.self, MountCommand.self,
                    StatusCommand.self,
                    LogCommand.self,
                ]
            ),
            CommandGroup(
                name: "Keep",
                subcommands: [
                    CheckCommand.self, PruneCommand.self, DeleteCommand.self, PinCommand.self,
                    UnpinCommand.self, ConsolidateCommand.self,
                ]
            ),
            CommandGroup(
                name: "Move",
                subcommands: [
                    CopyCommand.self, UploadCommand.self, ImportCommand.self, FetchCommand.self,
                ]
            ),
            CommandGroup(name: "Keep in step", subcommands: [SyncCommand.self]),
            CommandGroup(
                name: "Set up",
                subcommands: [
                    LinkCommand.self, UnlinkCommand.self, KeyCommand.self, ConfigCommand.self,
                    ScheduleCommand.self,
                ]
            ),
            CommandGroup(name: "Try", subcommands: [InitCommand.self, ItemsCommand.self]),
        ]
    )

    /// Parses the command and runs it.
    ///
    /// The parser's errors are printed like all others, with `--json` in JSON.
    static func main() async {
        // A run that was made nice may not raise its threads again; libdispatch would log each attempt.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        ProcessEnvironment.withhold(KeyRing.passwordVariable)
        OpenFilesLimit.raise()
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try requireThreads()
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            if error is ArgumentParser.ExitCode { exit(withError: error) }
            let console = Console(.said(in: CommandLine.arguments))
            switch exitCode(for: error) {
            case .success:
                // Help, the version or a completion script: an answer like any other.
                console.answer(text: helpText(fullMessage(for: error)) + "\n")
                exit(withError: ArgumentParser.ExitCode(console.status(after: .done).rawValue))
            case .validationFailure:
                let usage = UsageError(message(for: error), fullMessage: fullMessage(for: error))
                console.error(usage)
                exit(withError: ArgumentParser.ExitCode.validationFailure)
            default: exit(withError: error)
            }
        }
    }

    /// Refuses to begin without the threads that Swift's own work needs: it would wait for them for ever.
    private static func requireThreads() throws {
        guard !WorkThread.areLeft(3) else { return }
        Console(.said(in: CommandLine.arguments)).error(CommandError.tooFewThreads)
        throw ArgumentParser.ExitCode(ExitStatus.failed.rawValue)
    }
}
