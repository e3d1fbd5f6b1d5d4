public import Files

/// Why something cannot be looked at.
public enum LookError: ExplainedError, Equatable {
    /// No such store is in any of the states that are looked at; those that are.
    case noStore(String, among: [String])
    /// No such table is in any of the stores; those that are.
    case noTable(String, among: [String])
    /// The table has no such column; those that it has.
    case noColumn(String, table: String, among: [String])
    /// One store has to be named; those that there are.
    case severalStores([String])
    /// The text is no condition on rows of the table; SQLite's reason.
    case badCondition(String, reason: String)

    public var description: String {
        switch self {
        case .noStore(let name, _): "there is no store '\(name)'"
        case .noTable(let name, _): "there is no table '\(name)'"
        case .noColumn(let name, let table, _): "the table '\(table)' has no column '\(name)'"
        case .severalStores(let names):
            "one store has to be named: \(names.map { "'\($0)'" }.joined(separator: ", "))"
        case .badCondition(let text, let reason):
            "'\(text)' is no condition that rows can meet: \(reason)"
        }
    }

    /// The name that was given, and those that would have been right.
    public var name: (given: String, among: [String])? {
        switch self {
        case .noStore(let name, let names), .noTable(let name, let names),
            .noColumn(let name, _, let names):
            (name, names)
        case .severalStores, .badCondition: nil
        }
    }

    public var hint: String? { nil }
}
