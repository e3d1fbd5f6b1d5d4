public import Files

/// Why rows did not come back; nothing was written.
public enum RowReturnError: ExplainedError, Equatable {
    /// A row is there with other values, or another row has its unique values; the key of the one that was to
    /// come back.
    case conflict(String, key: String)
    /// The rows refer to rows of other tables that are not there, or those refer to what is replaced.
    case missingParents(String, [String])
    /// A constraint of the table, or one of its triggers, refuses a row; SQLite's reason.
    case refused(String, key: String, reason: String)
    /// Which other row has the unique values of a row cannot be told.
    case unknownRival(String, key: String, index: String)
    /// Only the application has what SQLite needs to write a row: a collation, a function or a module; SQLite's
    /// words.
    case needsApplication(String, store: String, what: String)
    /// The store's model has other entities than that of the rows, or other numbers for them.
    case otherModel(String, store: String, reason: String)
    /// The application changed the schema meanwhile.
    case changedSchema(String)

    public var description: String {
        switch self {
        case .conflict(let table, let key):
            "a row of '\(table)' is there with other values, or another has its unique values: \(key)"
        case .missingParents(let table, let tables):
            "rows of '\(table)' would refer to rows that are not there, or be missed by others: of \(tables.map { "'\($0)'" }.joined(separator: ", "))"
        case .refused(let table, let key, let reason):
            "a row of '\(table)' is refused, \(key): \(reason)"
        case .unknownRival(let table, let key, let index):
            "another row of '\(table)' has the unique values of one that would come back, \(key), and which one cannot be told: \(index)"
        case .needsApplication(let table, _, let what):
            "rows of '\(table)' cannot be written without their application: \(what)"
        case .otherModel(let table, _, let reason):
            "the rows of '\(table)' are of another model than the store: \(reason)"
        case .changedSchema(let store): "the schema of '\(store)' was changed meanwhile"
        }
    }

    public var hint: String? {
        switch self {
        case .conflict: "say what becomes of such rows"
        case .missingParents(_, let tables):
            tables.first.map { "bring the rows of '\($0)' back first" }
        case .refused: nil
        case .unknownRival: "delete that row first, or have such rows skipped"
        case .needsApplication(_, let store, _), .otherModel(_, let store, _):
            "bring all of the store '\(store)' back"
        case .changedSchema: "try again"
        }
    }

    /// Takes what SQLite says of something that only the application has; `nil` if it says something else.
    init?(_ reason: String, table: String, store: String) {
        let prefixes = ["no such collation sequence", "no such function", "no such module"]
        guard prefixes.contains(where: reason.contains) || reason.hasPrefix("unsafe use of") else {
            return nil
        }
        self = .needsApplication(table, store: store, what: reason)
    }
}
