internal import CSQLite
internal import Files

extension ColumnSchema.Default {
    /// Evaluates a constant default, in an empty database of its own.
    ///
    /// - Parameters:
    ///   - text: the expression as written; `nil` if there is none.
    ///   - type: the column's type, which may convert the value.
    ///   - isStrict: whether the table accepts only values of its types.
    init(_ text: String?, type: String, isStrict: Bool) {
        guard let text else {
            self = .constant(.null)
            return
        }
        self =
            (try? Self.evaluate(text, type: type, isStrict)).map(Self.constant)
            ?? .expression(text)
    }

    /// Evaluates a default; throws if it is no constant, or exceeds 1 MiB.
    private static func evaluate(
        _ text: String,
        type: String,
        _ isStrict: Bool
    ) throws -> StoredValue {
        let scratch = try ScratchDatabase(name: "default")
        sqlite3_limit(scratch.handle, SQLITE_LIMIT_LENGTH, 1 << 20)
        // All functions are refused, such as CURRENT_TIME, even those with a constant result.
        sqlite3_set_authorizer(
            scratch.handle,
            { _, action, _, _, _, _ in action == SQLITE_SELECT ? SQLITE_OK : SQLITE_DENY },
            nil
        )
        // A bare or double-quoted word is a text in a default, but a column elsewhere.
        if !isWord(text) { _ = try scratch.prepare("SELECT (\(text))") }
        sqlite3_set_authorizer(scratch.handle, nil, nil)
        let type = type.isEmpty ? "" : type.sqlIdentifier
        let suffix = isStrict ? " STRICT" : ""
        // A bare word in parentheses would be a column, while a sum is a default only in parentheses.
        let expression = isWord(text) ? text : "(\(text))"
        try scratch.run("CREATE TABLE t (c \(type) DEFAULT \(expression), other ANY)\(suffix)")
        try scratch.run("INSERT INTO t (other) VALUES (NULL)")
        let statement = try scratch.prepare("SELECT c FROM t")
        guard try statement.step() else { return .null }
        return statement.value(0)
    }

    private static func isWord(_ text: String) -> Bool {
        guard let first = text.utf8.first else { return false }
        if first == UInt8(ascii: "\""), text.utf8.last == first {
            return !text.dropFirst().dropLast().replacing("\"\"", with: "").contains("\"")
        }
        let words = ["current_time", "current_date", "current_timestamp"]
        guard !words.contains(text.foldedIdentifier.text) else { return false }
        return text.allSatisfy { $0.isLetter || $0 == "_" || $0.isASCII && $0.isNumber }
            && !(0x30...0x39).contains(first)
    }
}
