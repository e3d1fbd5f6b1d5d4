internal import Backups
public import Files
public import Stores

/// Why something in a backup, or in the stores directory, could not be looked at; the payload names it.
public enum LookingError: ExplainedError {
    /// There is no such file; perhaps another was meant.
    case noFile(String, in: String, nearest: String?)
    /// The path is of a directory or a link.
    case notAFile(String, in: String)
    /// There is no such store; these are there.
    case noStore(String, in: String, stores: [String])
    /// There is no store at all.
    case noStores(in: String)
    /// Which of these stores was not said.
    case severalStores(in: String, stores: [String])
    /// The file does not begin as an SQLite database does.
    case notAStore(String, in: String)
    /// There is no such table; these are there.
    case noTable(String, in: String, tables: [String])
    /// Something else has the name: a view, a virtual table, or a table in which a virtual one, perhaps known, keeps
    /// its data.
    case notOfRows(TableSchema.Kind, String, of: String?, in: String)
    /// The name is a subentity's, whose rows are in the table of another entity, with this number.
    case subentity(String, of: String, number: Int64, in: String)
    /// The table has no such column; it has these.
    case noColumn(String, table: String, columns: [String])
    /// The text is no condition that rows of a table can meet; perhaps this column was meant.
    case badCondition(String, reason: String, nearest: String? = nil)
    /// The data is not what was saved.
    case damaged(any Error)

    public var description: String {
        switch self {
        case .noFile(let path, let place, _): "there is no '\(path)' in \(place)"
        case .notAFile(let path, let place): "'\(path)' in \(place) is not a file"
        case .noStore(let path, let place, _): "there is no store '\(path)' in \(place)"
        case .noStores(let place): "there is no store in \(place)"
        case .severalStores(let place, let stores):
            "there are \(stores.count) stores in \(place): \(stores.prefix(8).joined(separator: ", "))\(stores.count > 8 ? ", …" : "")"
        case .notAStore(let path, let place): "'\(path)' in \(place) is no SQLite database"
        case .noTable(let table, let place, _): "there is no table '\(table)' in \(place)"
        case .noColumn(let column, let table, _):
            "the table '\(table)' has no column '\(column)'"
        case .notOfRows(.view, let name, _, let place):
            "'\(name)' in \(place) is a view, which has no rows of its own"
        case .notOfRows(.shadow, let name, let owner, let place):
            "'\(name)' in \(place) is where the virtual table\(owner.map { " '\($0)'" } ?? "") keeps its data, which only that may change"
        case .notOfRows(_, let name, _, let place):
            "'\(name)' in \(place) is a virtual table, which is passed over: its module has its rows"
        case .subentity(let name, let root, _, let place):
            "'\(name)' in \(place) has no table of its own: its rows are among those of '\(root)'"
        case .badCondition(let text, let reason, _):
            "'\(text)' is no condition that rows can meet: \(reason)"
        case .damaged(let error): explain(error)
        }
    }

    public var hint: String? {
        switch self {
        case .noFile(_, _, let nearest): nearest.map { "did you mean '\($0)'?" }
        case .noStore(let path, _, let stores):
            nearestFile(to: path, among: stores).map { "did you mean '\($0)'?" }
                ?? stores.first.map { "one that is there: '\($0)'" }
        case .noTable(let name, _, let names), .noColumn(let name, _, let names):
            nearestName(to: name, among: names).map { "did you mean '\($0)'?" }
                ?? names.first.map { "one that is there: '\($0)'" }
        case .subentity(_, let root, let number, _):
            "name '\(root)', with the condition 'Z_ENT = \(number)'"
        case .notOfRows(.view, _, _, _): "name the tables that it shows"
        case .notOfRows(.shadow, _, let owner?, _):
            "rows of '\(owner)' come back with the whole store"
        case .notOfRows: "its store has it as a whole; what it keeps can be asked for in SQL"
        case .badCondition(_, _, let nearest): nearest.map { "did you mean '\($0)'?" }
        case .severalStores: "name one of them"
        case .damaged(let error): (error as? any ExplainedError)?.hint
        case .notAFile, .noStores, .notAStore: nil
        }
    }

    /// Says that there is no file of a name, and which name is nearest: in all its letters, or in its last part.
    static func noFile(_ path: String, in place: String, among names: [String]) -> LookingError {
        let last = path.split(separator: "/").last
        let nearest =
            nearestName(to: path, among: names.prefix(comparedNames))
            ?? names.first { $0.split(separator: "/").last == last }
        return .noFile(path, in: place, nearest: nearest)
    }

    /// The most names that are compared with one that is not there.
    private static let comparedNames = 20_000

    /// Runs `body`, and throws an error that its archive is damaged as `damaged`.
    ///
    /// - Throws: what `body` throws.
    static func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error where error.tellsDamage {
            throw LookingError.damaged(error)
        }
    }

    /// Runs `body`, and throws an error that its archive is damaged as `damaged`.
    ///
    /// - Throws: what `body` throws.
    static func translating<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error where error.tellsDamage {
            throw LookingError.damaged(error)
        }
    }
}
