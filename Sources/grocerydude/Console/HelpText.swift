/// Moves the example in a command's help behind the options, since the parser puts it before the usage.
///
/// - Parameter text: the parser's text.
/// - Returns: the text; unchanged if it is no help.
func helpText(_ text: String) -> String {
    guard let example = text.firstRange(of: "\n\nEXAMPLE\n"),
        let usage = text[example.upperBound...].firstRange(of: "\n\nUSAGE: ")
    else { return text }
    let options = text[usage.lowerBound...].reversed().drop(while: \.isNewline).reversed()
    return text[..<example.lowerBound] + String(options)
        + text[example.lowerBound..<usage.lowerBound]
}
