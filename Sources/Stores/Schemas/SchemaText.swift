internal import CSQLite

/// The text of a row of a store's schema, which anybody may have written there.
///
/// SQLite reads the first statement of such a text, and ignores the rest; a program that runs the text runs the rest
/// as well. So a text is refused if it has more than the one statement of its row. All such texts run through this
/// type.
package enum SchemaText {
    /// The type of a row.
    package enum Kind: String, Sendable {
        case table, index, view, trigger
    }

    /// Returns why a text is not the one statement that creates its row's object; `nil` if it is.
    static func fault(in sql: String, of kind: Kind) -> String? {
        let tokens = SQLTokens(sql).all.map(\.folded)
        guard kind.begins(tokens.prefix(3)) else { return "it is no statement that makes one" }
        // SQLite reads `$x(';)` as one variable; no schema contains variables.
        guard !tokens.contains(where: { $0.first.map("$@#:".contains) == true }) else {
            return "it has a variable"
        }
        var end = tokens.firstIndex(of: ";") ?? tokens.count
        if kind == .trigger {
            guard let begin = tokens.firstIndex(of: "begin"), begin < end,
                let last = tokens.indices.first(where: {
                    $0 > end && tokens[$0] == "end" && tokens[$0 - 1] == ";"
                })
            else { return "it does not end" }
            end = last + 1
        }
        return tokens[end...].allSatisfy { $0 == ";" } ? nil : "there is more behind its statement"
    }

    /// Throws if a text is not the one statement of its row; see `fault(in:of:)`.
    static func check(_ sql: String, of kind: Kind, _ name: String, in store: String) throws {
        guard let fault = fault(in: sql, of: kind) else { return }
        throw StoreError.unreadable(
            store,
            reason:
                "its schema cannot be trusted: the text of the \(kind.rawValue) '\(name)': \(fault)"
        )
    }

    /// Creates the object of a text in another database.
    ///
    /// SQLite compiles the text under an authorizer that allows nothing else.
    ///
    /// - Parameters:
    ///   - sql: the text.
    ///   - kind: the type of its row.
    ///   - isTemporary: whether a trigger is created for this connection only.
    ///   - database: the connection (`sqlite3 *`).
    ///   - store: the store's name in messages.
    /// - Throws: `StoreError`.
    package static func run(
        _ sql: String,
        of kind: Kind,
        isTemporary: Bool = false,
        on database: OpaquePointer,
        name store: String
    ) throws {
        if let fault = fault(in: sql, of: kind) {
            throw StoreError.unreadable(store, reason: "a text of its schema: \(fault)")
        }
        let text = isTemporary ? temporary(sql) : sql
        // See https://www.sqlite.org/c3ref/set_authorizer.html.
        sqlite3_set_authorizer(
            database,
            { _, action, first, second, place, _ in
                SchemaText.allows(action, first, second, in: place)
            },
            nil
        )
        defer { sqlite3_set_authorizer(database, nil, nil) }
        let statement = try Statement(database, name: store, text)
        sqlite3_set_authorizer(database, nil, nil)
        _ = try statement.step()
    }

    private static func temporary(_ sql: String) -> String {
        // The first two words are CREATE TRIGGER.
        guard let end = SQLTokens(sql).all.dropFirst().first?.range.upperBound else { return sql }
        return "CREATE TEMP TRIGGER" + String(decoding: sql.utf8.dropFirst(end), as: UTF8.self)
    }

    private static func allows(
        _ action: CInt,
        _ first: UnsafePointer<CChar>?,
        _ second: UnsafePointer<CChar>?,
        in database: UnsafePointer<CChar>?
    ) -> CInt {
        let database = database.map { String(cString: $0) } ?? "main"
        let isHere: Bool
        switch action {
        case SQLITE_CREATE_TABLE, SQLITE_CREATE_INDEX, SQLITE_CREATE_VIEW, SQLITE_CREATE_TRIGGER,
            SQLITE_CREATE_VTABLE:
            isHere = database == "main"
        case SQLITE_CREATE_TEMP_TRIGGER, SQLITE_READ, SQLITE_REINDEX: isHere = true
        case SQLITE_SELECT, SQLITE_RECURSIVE: return SQLITE_OK
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
            isHere = first.map { String(cString: $0).hasPrefix("sqlite_") } == true
        case SQLITE_FUNCTION:
            let name = second.map { String(cString: $0).lowercased() } ?? ""
            isHere = !QueryGuard.functions.contains(name)
        default: isHere = false
        }
        return isHere && ["main", "temp"].contains(database) ? SQLITE_OK : SQLITE_DENY
    }

    /// Returns a text in a form that is safe in a script for SQLite's shell, with its semicolon.
    ///
    /// A line that contains only `go` or `/` ends a statement there. The next line could be a command of the shell.
    static func inScript(_ sql: String) -> String {
        let bytes = Array(sql.utf8)
        let newline = UInt8(ascii: "\n")
        let tokens = SQLTokens(sql).all
        var text: [UInt8] = []
        var done = 0
        for (place, token) in tokens.enumerated().dropFirst() {
            let next = place + 1 < tokens.count ? tokens[place + 1].range.lowerBound : bytes.count
            guard ["go", "/"].contains(token.folded),
                bytes[tokens[place - 1].range.upperBound..<token.range.lowerBound].contains(
                    newline
                ),
                next == bytes.count || bytes[token.range.upperBound..<next].contains(newline)
            else { continue }
            text += bytes[done..<token.range.lowerBound] + Array("/**/".utf8)
            done = token.range.lowerBound
        }
        let safe = String(decoding: text + bytes[done...], as: UTF8.self)
        // A comment at the end would swallow the semicolon.
        return sqlite3_complete("\(safe);") != 0 ? "\(safe);" : "\(safe)\n;"
    }
}

extension SchemaText.Kind {
    /// Returns whether a statement that begins with these words creates an object of this type.
    fileprivate func begins(_ words: ArraySlice<String>) -> Bool {
        guard words.count == 3, words.first == "create" else { return false }
        switch (self, words[1], words[2]) {
        case (.table, "virtual", "table"), (.index, "unique", "index"): return true
        default: return words[1] == rawValue
        }
    }
}
