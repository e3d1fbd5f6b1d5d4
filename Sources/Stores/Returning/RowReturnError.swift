public import Files

/// The reason why rows did not come back; nothing was written.
public enum RowReturnError: ExplainedError, Equatable {
    /// A row exists with other values, or another row has its unique values; the key is the returning row's.
    case conflict(String, key: String)
    /// The rows refer to missing rows of other tables, or rows of those tables refer to replaced rows.
    case missingParents(String, [String])
    /// A constraint of the table, or one of its triggers, refuses a row; the reason is SQLite's.
    case refused(String, key: String, reason: String)
    /// It is unknown which other row has the unique values of a row.
    case unknownRival(String, key: String, index: String)
    /// SQLite needs a collation, a function or a module of the application to write a row; the words are SQLite's.
    case needsApplication(String, store: String, what: String)
    /// The store's model has other entities than the rows' model, or other numbers for them.
    case otherModel(String, store: String, reason: String)
    /// The application changed the schema meanwhile.
    case changedSchema(String)

    public var description: String {
        switch self {
        case .conflict(let table, let key):
            "a row of '\(table)' exists with other values, or another row has its unique values: \(key)"
        case .missingParents(let table, let tables):
            "rows of '\(table)' would break foreign keys with the tables \(tables.map { "'\($0)'" }.joined(separator: ", "))"
        case .refused(let table, let key, let reason):
            "a row of '\(table)' is refused, \(key): \(reason)"
        case .unknownRival(let table, let key, let index):
            "an unknown row of '\(table)' has the unique values of a row that would come back, \(key): \(index)"
        case .needsApplication(let table, _, let what):
            "rows of '\(table)' cannot be written without their application: \(what)"
        case .otherModel(let table, _, let reason):
            "the rows of '\(table)' are of another model than the store: \(reason)"
        case .changedSchema(let store): "the schema of '\(store)' was changed meanwhile"
        }
    }

    public var hint: String? {
        switch self {
        case .conflict:
            "keep it with '--on-conflict skip', or replace it with '--on-conflict replace'"
        case .missingParents(_, let tables):
            "bring those back first: \(Advice.quoted(Advice.option("rows", tables.first ?? "TABLE")))"
        case .refused: nil
        case .unknownRival:
            "delete that row first, or keep it with '--on-conflict skip'"
        case .needsApplication(_, let store, _), .otherModel(_, let store, _):
            "restore the whole store: \(Advice.quoted("grocerydude restore NAME --only \(Advice.part(store))"))"
        case .changedSchema: "try again"
        }
    }

    /// Translates SQLite's message about something that only the application has; `nil` for any other message.
    init?(_ reason: String, table: String, store: String) {
        let prefixes = ["no such collation sequence", "no such function", "no such module"]
        guard prefixes.contains(where: reason.contains) || reason.hasPrefix("unsafe use of") else {
            return nil
        }
        self = .needsApplication(table, store: store, what: reason)
    }
}
