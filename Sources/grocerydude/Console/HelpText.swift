/// Returns a command's help with its example behind the options; the parser puts it before the usage.
///
/// - Parameter text: the parser's text; one that is no help stays as it is.
func helpText(_ text: String) -> String {
    guard let example = text.firstRange(of: "\n\nEXAMPLE\n"),
        let usage = text[example.upperBound...].firstRange(of: "\n\nUSAGE: ")
    else { return text }
    let options = text[usage.lowerBound...].reversed().drop(while: \.isNewline).reversed()
    return text[..<example.lowerBound] + String(options)
        + text[example.lowerBound..<usage.lowerBound]
}
