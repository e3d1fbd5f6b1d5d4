internal import CSQLite
internal import Files

/// A guard that, while a statement is compiled, refuses everything except reading one store
/// (https://www.sqlite.org/c3ref/set_authorizer.html).
///
/// Statements that write rows are detected after compilation instead: virtual tables prepare such statements for
/// themselves, which must not be refused.
final class QueryGuard {
    /// The pragmas that only report, unless they set a value.
    private static let reporting: Set = [
        "application_id", "auto_vacuum", "collation_list", "compile_options", "data_version",
        "database_list", "encoding", "foreign_key_check", "foreign_key_list", "freelist_count",
        "function_list", "index_info", "index_list", "index_xinfo", "integrity_check",
        "journal_mode",
        "module_list", "page_count", "page_size", "pragma_list", "quick_check", "schema_version",
        "table_info", "table_list", "table_xinfo", "user_version",
    ]
    /// The reporting pragmas whose argument is a new value.
    private static let settable: Set = [
        "application_id", "auto_vacuum", "encoding", "journal_mode", "page_size", "schema_version",
        "user_version",
    ]
    /// The functions that have effects beyond a store.
    static let functions: Set = [
        "load_extension", "writefile", "readfile", "edit", "fts3_tokenizer",
    ]

    /// The first reason for a refusal.
    private(set) var refusal: String?

    /// Guards a connection while `body` runs.
    func guarding<Result>(_ database: OpaquePointer, _ body: () throws -> Result) rethrows -> Result
    {
        refusal = nil
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_set_authorizer(
            database,
            { context, action, first, second, _, _ in
                guard let context else { return SQLITE_DENY }
                let texts = [first, second].map { $0.map { String(cString: $0) } }
                let own = Unmanaged<QueryGuard>.fromOpaque(context).takeUnretainedValue()
                return own.allows(action, texts[0], texts[1]) ? SQLITE_OK : SQLITE_DENY
            },
            context
        )
        defer { sqlite3_set_authorizer(database, nil, nil) }
        return try body()
    }

    private func allows(_ action: CInt, _ first: String?, _ second: String?) -> Bool {
        guard let reason = Self.reason(action, first, second) else { return true }
        refusal = refusal ?? reason
        return false
    }

    /// Returns why an action is refused; `nil` if it is allowed.
    private static func reason(_ action: CInt, _ first: String?, _ second: String?) -> String? {
        switch action {
        case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE: return nil
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE: return nil
        case SQLITE_FUNCTION:
            let name = second?.lowercased() ?? ""
            return functions.contains(name)
                ? "the function '\(name)' reaches beyond the store" : nil
        case SQLITE_PRAGMA:
            let name = first?.lowercased() ?? ""
            guard reporting.contains(name) else {
                return "'PRAGMA \(name)' is not one that only reads"
            }
            return second != nil && settable.contains(name)
                ? "'PRAGMA \(name)' with a value would change it" : nil
        case SQLITE_ATTACH, SQLITE_DETACH: return "no other database is attached or detached"
        case SQLITE_TRANSACTION, SQLITE_SAVEPOINT: return "it begins or ends a transaction"
        default: return writes
        }
    }

    /// The reason to refuse a statement that writes.
    static let writes = "it would write, and this only reads"
}
