extension String {
    /// The string as an identifier in SQL, whatever its content (https://www.sqlite.org/lang_keywords.html).
    package var sqlIdentifier: String { quoted(by: "\"") }

    /// The string as a string literal in SQL.
    package var sqlLiteral: String { quoted(by: "'") }

    /// Encloses the string in marks, and doubles each mark in it.
    ///
    /// Most strings have none, and a search is slow.
    private func quoted(by scalar: Unicode.Scalar) -> String {
        let mark = String(scalar)
        if !utf8.contains(UInt8(ascii: scalar)) { return mark + self + mark }
        // This works on scalars: a mark with a combining accent after it is no character of its own.
        var text = mark.unicodeScalars
        for part in unicodeScalars {
            text.append(part)
            if part == scalar { text.append(part) }
        }
        return String(text) + mark
    }
}
