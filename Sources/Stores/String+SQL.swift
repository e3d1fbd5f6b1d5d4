extension String {
    /// As an identifier in SQL, whatever is in it (https://www.sqlite.org/lang_keywords.html).
    package var sqlIdentifier: String { quoted(by: "\"") }

    /// As a string literal in SQL.
    package var sqlLiteral: String { quoted(by: "'") }

    /// Doubles each mark in it; most have none, and searching text for text is slow.
    private func quoted(by scalar: Unicode.Scalar) -> String {
        let mark = String(scalar)
        if !utf8.contains(UInt8(ascii: scalar)) { return mark + self + mark }
        return mark + replacing(mark, with: mark + mark) + mark
    }
}
