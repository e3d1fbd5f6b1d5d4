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
            EXAMPLE
              grocerydude init
              grocerydude backup
              grocerydude restore latest

            The stores directory is named by '--stores' or GROCERYDUDE_STORES, the folder that \
            backups go to by '--remote' or GROCERYDUDE_REMOTE, or both by a profile of the \
            configuration; see 'grocerydude config example'.

            \(ExitStatus.help)
            """,
        version: version,
        subcommands: [
            InitCommand.self, ItemsCommand.self, BackupCommand.self, ListCommand.self,
            ShowCommand.self,
            RestoreCommand.self, CheckCommand.self, PruneCommand.self, DeleteCommand.self,
            UndeleteCommand.self, PinCommand.self, UnpinCommand.self, ConfigCommand.self,
            ScheduleCommand.self, StatusCommand.self, LogCommand.self,
        ]
    )

    /// Parses the command and runs it.
    ///
    /// What the parser finds wrong is told as all errors are, with `--json` in JSON too: who reads
    /// that, reads it of the wrong use as well.
    static func main() async {
        // A run that was made nice may not raise its threads again, and libdispatch would tell the system's log
        // of each.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        OpenFilesLimit.raise()
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
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
                console.answerText(fullMessage(for: error) + "\n")
                exit(withError: ArgumentParser.ExitCode(console.code(after: 0)))
            case .validationFailure:
                let usage = UsageError(message(for: error), fullMessage: fullMessage(for: error))
                console.error(usage)
                exit(withError: ArgumentParser.ExitCode.validationFailure)
            default: exit(withError: error)
            }
        }
    }
}

/// A command that was not written as it can be.
struct UsageError: ExplainedError {
    let description: String
    let hint: String?

    /// - Parameters:
    ///   - message: what the parser says is wrong.
    ///   - fullMessage: that, and what it says of the command and its help.
    init(_ message: String, fullMessage: String) {
        let text = message.split(whereSeparator: \.isNewline)
            .map { $0.trimmingPrefix("Error: ") }.joined(separator: " ")
        description = text.prefix(1).lowercased() + text.dropFirst()
        // Only there does the parser name the command that it was at.
        let command = fullMessage.firstMatch(of: /See '([^']* --help)' for more information/)?.1
        hint = "run '\(command ?? "grocerydude --help")'"
    }
}

extension OutputOptions {
    /// How to speak where the command line could not be parsed.
    static func said(in arguments: [String]) -> OutputOptions {
        let words = arguments.dropFirst().prefix { $0 != "--" }
        let isQuiet = words.contains {
            $0 == "--quiet" || !$0.hasPrefix("--") && $0.hasPrefix("-") && $0.contains("q")
        }
        return OutputOptions.parseOrExit(
            (words.contains("--json") ? ["--json"] : []) + (isQuiet ? ["--quiet"] : [])
        )
    }
}
