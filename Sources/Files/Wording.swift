/// Formats a number of bytes in decimal units: `12.34 MB`.
public func byteCount(_ count: Int64) -> String {
    var value = Double(count)
    guard value >= 1000 else { return "\(count) bytes" }
    var unit = ""
    // A value that would be rounded up to 1000 gets the next unit.
    for next in ["kB", "MB", "GB", "TB", "PB"] where unit.isEmpty || value >= 999.995 {
        value /= 1000
        unit = next
    }
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(hundredths % 100 / 10)\(hundredths % 10) \(unit)"
}

/// Formats a number of things in English.
public func counted(_ number: Int, _ singular: String, _ plural: String) -> String {
    "\(number) \(number == 1 ? singular : plural)"
}

extension String {
    /// Returns the text with some characters replaced, each by a text of its own.
    public func escaped(_ replacements: [Unicode.Scalar: String]) -> String {
        unicodeScalars.reduce(into: "") { text, scalar in
            text += replacements[scalar] ?? String(scalar)
        }
    }
}
