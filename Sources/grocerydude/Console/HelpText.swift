/// The titles of sections of options that a command's help names instead of showing them.
///
/// Completions and manual pages have all options, and so has `--help-hidden`.
enum HelpSection {
    /// The options of nearly every command, which `help options` shows.
    static let common = "Common options"
    /// The options that few people need.
    static let further = "Further options"

    fileprivate static let hints = [
        (common, "Options that most commands have: see 'grocerydude help options'."),
        (further, "Options that few people need: see '--help-hidden'."),
    ]
}

/// Makes the help that is printed from the parser's text.
///
/// Moves the example behind the options, since the parser puts it before the usage, and names sections of options
/// instead of showing them. A usage that does not fit into a line names no options. `help exit-codes` shows the exit
/// codes.
///
/// - Parameters:
///   - text: the parser's text.
///   - isWhole: whether all options are shown.
/// - Returns: the text; unchanged if it is no help.
func helpText(_ text: String, isWhole: Bool = false) -> String {
    guard let example = text.firstRange(of: "\n\nEXAMPLE\n"),
        let usage = text[example.upperBound...].firstRange(of: "\n\nUSAGE: ")
    else { return text }
    var sections = text[usage.lowerBound...].split(separator: "\n\n").map(String.init)
    if !isWhole {
        let hints = HelpSection.hints.filter { title, _ in
            let count = sections.count
            sections.removeAll { $0.hasPrefix("\(title.uppercased()):\n") }
            return sections.count < count
        }
        if !hints.isEmpty { sections.append(hints.map(\.1).joined(separator: "\n")) }
    }
    if sections[0].count > 80 {
        sections[0].replace(/(?: \[-[^\]]*\])+/, with: " <options>")
    }
    sections = sections.map { String($0.trimmingSuffix(while: \.isNewline)) }
    let examples = text[example.lowerBound..<usage.lowerBound]
    let codes = examples.firstRange(of: "\n\nEXIT CODES\n")?.lowerBound
    return text[..<example.lowerBound] + "\n\n" + sections.joined(separator: "\n\n")
        + (isWhole ? examples : examples[..<(codes ?? examples.endIndex)])
}

extension String {
    fileprivate func trimmingSuffix(while isCut: (Character) -> Bool) -> Substring {
        self[..<(lastIndex { !isCut($0) }.map { index(after: $0) } ?? startIndex)]
    }
}
