extension String {
    /// As an identifier in SQL, whatever is in it (https://www.sqlite.org/lang_keywords.html).
    package var sqlIdentifier: String { "\"\(replacing("\"", with: "\"\""))\"" }

    /// As a string literal in SQL.
    package var sqlLiteral: String { "'\(replacing("'", with: "''"))'" }
}
