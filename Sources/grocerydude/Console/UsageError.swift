internal import ArgumentParser
internal import Files
internal import SystemPackage

internal import Foundation

/// An error for a command line that the parser rejects.
struct UsageError: ExplainedError {
    let description: String
    let hint: String?
    var outcome: FailureOutcome { .usage }

    init(_ description: String, hint: String) {
        (self.description, self.hint) = (description, hint)
    }

    /// - Parameters:
    ///   - message: the parser's reason.
    ///   - fullMessage: the reason with the command's usage and a reference to its help.
    init(_ message: String, fullMessage: String) {
        let text = message.split(whereSeparator: \.isNewline)
            .map { $0.trimmingPrefix("Error: ") }.joined(separator: " ")
        description = text.prefix(1).lowercased() + text.dropFirst()
        // Only this text contains the command's name.
        let command = fullMessage.firstMatch(of: /See '([^']* --help)' for more information/)?.1
        hint = "run '\(command ?? "grocerydude --help")'"
    }
}

extension UsageError {
    /// An error for arguments or variables that would name other files: as text, or in another working directory.
    static var ofNames: UsageError? {
        if let argument = ProgramArguments.firstThatIsNoText {
            return UsageError("the argument '\(printable(argument))' is not UTF-8", hint: rename)
        }
        if let name = ProcessEnvironment.unreadable {
            return UsageError("the environment variable \(name) is not UTF-8", hint: rename)
        }
        // Keys, settings and state would be searched in the working directory.
        guard ProcessEnvironment.home.hasPrefix("/") else {
            return UsageError(
                "HOME is '\(ProcessEnvironment.home)', and not an absolute path",
                hint: "set it, as in: HOME=\"$PWD/DIRECTORY\" grocerydude list"
            )
        }
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        if isText(path) { return nil }
        let name = printable(FilePath(platformString: path))
        return UsageError("the working directory '\(name)' is not UTF-8", hint: rename)
    }

    private static let rename =
        "give the file a name in UTF-8; a file of a backup is named as 'grocerydude show' prints it"

    /// Returns whether bytes up to a NUL are UTF-8.
    static func isText(_ bytes: UnsafePointer<CChar>) -> Bool {
        String(validatingCString: bytes) != nil
    }
}

extension UsageError {
    /// Returns an error for a word in the place of a command that names none, with the nearest command.
    ///
    /// - Parameters:
    ///   - arguments: the arguments after the program's name.
    ///   - root: the program's command.
    /// - Returns: `nil` if all commands are known.
    static func unknownCommand(
        in arguments: some Sequence<String>,
        below root: any ParsableCommand.Type
    ) -> UsageError? {
        var words = arguments.prefix { !$0.hasPrefix("-") }[...]
        if words.first == "help" { words = words.dropFirst() }
        var command = root
        var path = "grocerydude"
        for word in words {
            let commands = command.configuration.subcommands
            let names = commands.compactMap { $0.configuration.commandName }
            guard !commands.isEmpty else { return nil }
            let next = commands.first {
                $0.configuration.commandName == word || $0.configuration.aliases.contains(word)
            }
            guard let next else {
                let near = nearestName(to: word, among: names)
                return UsageError(
                    "'\(path)' has no command '\(word)'",
                    hint: near.map { "did you mean '\(path) \($0)'?" } ?? "run '\(path) --help'"
                )
            }
            command = next
            path += " \(word)"
        }
        return nil
    }
}
