internal import Files
internal import Foundation

/// A command line that the parser does not accept.
struct UsageError: ExplainedError {
    let description: String
    let hint: String?

    /// - Parameters:
    ///   - message: the parser's reason.
    ///   - fullMessage: the reason with the command's usage, and how to get its help.
    init(_ message: String, fullMessage: String) {
        let text = message.split(whereSeparator: \.isNewline)
            .map { $0.trimmingPrefix("Error: ") }.joined(separator: " ")
        description = text.prefix(1).lowercased() + text.dropFirst()
        // Only here does the parser name the command.
        let command = fullMessage.firstMatch(of: /See '([^']* --help)' for more information/)?.1
        hint = "run '\(command ?? "grocerydude --help")'"
    }
}
