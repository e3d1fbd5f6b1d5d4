internal import ArgumentParser
internal import Foundation

/// The manual as one page for man(1), for people who have the program without its package: `help manual`.
struct ManualTopic: HelpTopic {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "A page of all commands for man(1): 'grocerydude help manual | man -l -'.",
        shouldDisplay: false
    )

    /// The page, in the language of man(7).
    static var page: String {
        let title = GroceryDude.configuration.abstract.lowercasedFirst
        let commands = commands(below: GroceryDude.self, [])
        let sections =
            [("COMMANDS", text(of: GroceryDude.self))]
            + commands.map { ($0.words.joined(separator: " ").uppercased(), text(of: $0.type)) }
            + [("COMMON OPTIONS", text(of: OptionsTopic.self)), ("EXIT CODES", codes)]
        let lines =
            [
                ".TH GROCERYDUDE 1 \"\" \"grocerydude \(Invocation.version)\"",
                ".SH NAME", escaped("grocerydude - \(title)"),
            ]
            + sections.flatMap { name, text in
                [".SH \(escaped(name))", ".nf"]
                    + text.split(separator: "\n", omittingEmptySubsequences: false).map(escaped)
                    + [".fi"]
            }
        return lines.joined(separator: "\n")
    }

    private typealias Named = (words: [String], type: any ParsableCommand.Type)

    private static func commands(
        below type: any ParsableCommand.Type,
        _ words: [String]
    ) -> [Named] {
        type.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap { type in
            let words = words + [type.configuration.commandName ?? ""]
            return [(words: words, type: type)] + commands(below: type, words)
        }
    }

    /// Returns the help of a command without the options of all commands, which are shown once.
    private static func text(of type: any ParsableCommand.Type) -> String {
        let help = GroceryDude.helpMessage(for: type, columns: 78)
        let sections = helpText(help, isWhole: type != OptionsTopic.self)
            .components(separatedBy: "\n\n")
        return sections.filter {
            !$0.hasPrefix("\(HelpSection.common.uppercased()):\n") && !$0.hasPrefix("EXIT CODES\n")
        }.joined(separator: "\n\n")
    }

    private static var codes: String {
        ExitStatus.help.split(separator: "\n").dropFirst().joined(separator: "\n")
    }

    /// Returns a line in which groff finds no request, and keeps all characters as they are.
    private static func escaped(_ line: some StringProtocol) -> String {
        let text = line.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\e"
            case "-": "\\-"
            case _ where scalar.isASCII: String(scalar)
            default: "\\[u\(String(format: "%04X", scalar.value))]"
            }
        }.joined()
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&\(text)" : text
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
