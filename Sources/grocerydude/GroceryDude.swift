internal import ArgumentParser
internal import Files
internal import Foundation
internal import Processes
internal import Stores

@main
struct GroceryDude: AsyncParsableCommand {
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
        version: Invocation.versionText,
        subcommands: [OptionsTopic.self, ExitCodesTopic.self, ManualTopic.self],
        groupedSubcommands: [
            CommandGroup(name: "Back up", subcommands: [BackupCommand.self]),
            CommandGroup(
                name: "Get back",
                subcommands: [
                    RestoreCommand.self, ExtractCommand.self, UndeleteCommand.self,
                ]
            ),
            CommandGroup(
                name: "Look inside",
                subcommands: [
                    ListCommand.self, ShowCommand.self, DiffCommand.self, FindCommand.self,
                    SQLCommand.self, MountCommand.self,
                    StatusCommand.self, ReportCommand.self, LogCommand.self,
                ]
            ),
            CommandGroup(
                name: "Keep",
                subcommands: [
                    CheckCommand.self, PruneCommand.self, DeleteCommand.self, PinCommand.self,
                    ConsolidateCommand.self,
                ]
            ),
            CommandGroup(
                name: "Move",
                subcommands: [
                    CopyCommand.self, ImportCommand.self,
                ]
            ),
            CommandGroup(name: "Keep in step", subcommands: [SyncCommand.self]),
            CommandGroup(
                name: "Set up",
                subcommands: [
                    SetupCommand.self,
                    LinkCommand.self, UnlinkCommand.self, KeyCommand.self, TrustCommand.self,
                    ConfigCommand.self,
                    ScheduleCommand.self, NotifyCommand.self,
                ]
            ),
            CommandGroup(name: "Try", subcommands: [InitCommand.self, SampleCommand.self]),
        ]
    )

    /// Parses the command and runs it.
    ///
    /// The parser's errors are printed like all others, as JSON with `--json`.
    static func main() async {
        // A run with a lowered priority may not raise its threads' priority, and libdispatch would log each attempt.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        OpenFilesLimit.raise()
        if let error = UsageError.ofNames {
            Console(.said(in: ProgramArguments.all)).error(error)
            exit(withError: ArgumentParser.ExitCode(ExitStatus.usage.rawValue))
        }
        ProcessEnvironment.withhold(KeyRing.passwordVariable)
        StoreMemory.keepLittle()
        do {
            var command = try parseAsRoot(Array(ProgramArguments.all.dropFirst()))
            if var command = command as? any AsyncParsableCommand {
                try requireSystem()
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            if error is ArgumentParser.ExitCode { exit(withError: error) }
            let console = Console(.said(in: ProgramArguments.all))
            let arguments = ProgramArguments.all.dropFirst()
            switch exitCode(for: error) {
            case .success:
                // Help, the version and completion scripts are ordinary answers.
                if arguments.first == "help",
                    let usage = UsageError.unknownCommand(in: arguments, below: Self.self)
                {
                    fail(usage, console)
                }
                let isWhole = arguments.contains("--help-hidden")
                let text =
                    Array(arguments) == ["help", "manual"]
                    ? ManualTopic.page : helpText(fullMessage(for: error), isWhole: isWhole)
                console.answer(text: text + "\n")
                exit(withError: ArgumentParser.ExitCode(console.status(after: .done).rawValue))
            case .validationFailure:
                let usage = UsageError(message(for: error), fullMessage: fullMessage(for: error))
                fail(UsageError.unknownCommand(in: arguments, below: Self.self) ?? usage, console)
            default: exit(withError: error)
            }
        }
    }

    private static func fail(_ error: UsageError, _ console: Console) -> Never {
        console.error(error)
        exit(withError: ArgumentParser.ExitCode.validationFailure)
    }

    /// Refuses to start without the means that every command needs.
    private static func requireSystem() throws {
        guard let lack = lackOfSystem else { return }
        Console(.said(in: ProgramArguments.all)).error(lack)
        throw ArgumentParser.ExitCode(ExitStatus.failed.rawValue)
    }

    /// The reason why the program would block forever, or end half-way or without a message; `nil` if there is none.
    private static var lackOfSystem: CommandError? {
        #if os(Linux)
        // libdispatch reads it each second, and ends the program if it cannot.
        if access("/proc/self/stat", R_OK) != 0 { return .noProcesses }
        #endif
        if let bytes = MemoryLimit.lack(forThreads: Invocation.threads) {
            return .tooLittleMemory(Int64(bytes))
        }
        return WorkThread.areLeft(3) ? nil : .tooFewThreads
    }
}

/// A page of help that is no command's: `grocerydude help options`.
protocol HelpTopic: ParsableCommand {}

extension HelpTopic {
    func run() throws { throw CleanExit.helpRequest(self) }
}

/// The page of the options that most commands have.
struct OptionsTopic: HelpTopic {
    static let configuration = CommandConfiguration(
        commandName: "options",
        abstract: "The options that most commands have.",
        shouldDisplay: false
    )

    @OptionGroup var folder: FolderOptions
}

/// The page of the exit codes.
struct ExitCodesTopic: HelpTopic {
    static let configuration = CommandConfiguration(
        commandName: "exit-codes",
        abstract: "The exit codes of all commands.",
        discussion: ExitStatus.help,
        shouldDisplay: false
    )
}
