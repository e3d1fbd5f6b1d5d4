internal import Backups
public import Files
public import Stores

/// An error that keeps something in a backup or the stores directory from being read; the payload names it.
public enum LookingError: ExplainedError {
    /// There is no such file; `nearest` is the most similar name.
    case noFile(String, in: String, nearest: String?)
    /// The path is that of a directory or a link.
    case notAFile(String, in: String)
    /// There is no such store; `stores` lists the existing ones.
    case noStore(String, in: String, stores: [String])
    /// There is no store at all.
    case noStores(in: String)
    /// There are several stores, and the user named none of them.
    case severalStores(in: String, stores: [String])
    /// The file does not start with the header of an SQLite database.
    case notAStore(String, in: String)
    /// There is no such table; `tables` lists the existing ones.
    case noTable(String, in: String, tables: [String])
    /// The name belongs to a view, a virtual table or a shadow table. The payload names the virtual table of a shadow
    /// table, if it is known.
    case notOfRows(TableSchema.Kind, String, of: String?, in: String)
    /// The name is that of a subentity, whose rows are in another entity's table with this entity number.
    case subentity(String, of: String, number: Int64, in: String)
    /// The table has no such column; `columns` lists the existing ones.
    case noColumn(String, table: String, columns: [String])
    /// The text is not a valid condition for rows of a table; `nearest` is the most similar column.
    case badCondition(String, reason: String, nearest: String? = nil)
    /// The data differs from the saved data.
    case damaged(any Error)

    public var outcome: FailureOutcome {
        switch self {
        case .damaged: .damaged
        case .severalStores, .badCondition: .usage
        case .noFile, .notAFile, .noStore, .noStores, .notAStore, .noTable, .noColumn, .notOfRows,
            .subentity:
            .failed
        }
    }

    public var description: String {
        switch self {
        case .noFile(let path, let place, _): "there is no '\(path)' in \(place)"
        case .notAFile(let path, let place): "'\(path)' in \(place) is not a file"
        case .noStore(let path, let place, _): "there is no store '\(path)' in \(place)"
        case .noStores(let place): "there is no store in \(place)"
        case .severalStores(let place, let stores):
            "there are \(stores.count) stores in \(place): \(stores.prefix(8).joined(separator: ", "))\(stores.count > 8 ? ", …" : "")"
        case .notAStore(let path, let place): "'\(path)' in \(place) is not an SQLite database"
        case .noTable(let table, let place, _): "there is no table '\(table)' in \(place)"
        case .noColumn(let column, let table, _):
            "the table '\(table)' has no column '\(column)'"
        case .notOfRows(.view, let name, _, let place):
            "'\(name)' in \(place) is a view, which has no rows of its own"
        case .notOfRows(.shadow, let name, let owner, let place):
            "'\(name)' in \(place) holds the data of the virtual table\(owner.map { " '\($0)'" } ?? ""), and only that table may change it"
        case .notOfRows(_, let name, _, let place):
            "'\(name)' in \(place) is a virtual table, which is skipped: its module has its rows"
        case .subentity(let name, let root, _, let place):
            "'\(name)' in \(place) has no table of its own: its rows are among those of '\(root)'"
        case .badCondition(let text, let reason, _):
            "'\(text)' is not a condition on rows: \(reason)"
        case .damaged(let error): explain(error)
        }
    }

    public var hint: String? {
        switch self {
        case .noFile(_, _, let nearest):
            nearest.map { "did you mean '\($0)'?" }
                ?? "see what is there with 'grocerydude show NAME --tree'"
        case .noStore(let path, _, let stores):
            nearestFile(to: path, among: stores).map { "did you mean '\($0)'?" }
                ?? stores.first.map { "one that is there: '\($0)'" }
        case .noTable(let name, _, let names), .noColumn(let name, _, let names):
            nearestName(to: name, among: names).map { "did you mean '\($0)'?" }
                ?? names.first.map { "one that is there: '\($0)'" }
        case .subentity(_, let root, let number, _):
            "name '\(root)', with '--where' and the condition 'Z_ENT = \(number)'"
        case .notOfRows(.view, _, _, _): "name the tables that it shows"
        case .notOfRows:
            "restore its whole store with 'grocerydude restore NAME --only STORE', or query it with 'grocerydude sql'"
        case .badCondition(_, _, let nearest): nearest.map { "did you mean '\($0)'?" }
        case .severalStores(_, let stores):
            "name one with \(Advice.quoted(Advice.option("store", stores.first ?? "PATH")))"
        case .damaged:
            "\(Advice.list) and \(Advice.olderBackup)"
        case .notAFile, .noStores, .notAStore: nil
        }
    }

    /// Returns an error for a missing file, with the most similar name: by all its letters, or by its last component.
    static func noFile(_ path: String, in place: String, among names: [String]) -> LookingError {
        let last = path.utf8.split(separator: UInt8(ascii: "/")).last
        let nearest =
            nearestName(to: path, among: names.prefix(comparedNames))
            ?? names.first { name in
                last.map { name.utf8.split(separator: UInt8(ascii: "/")).last?.elementsEqual($0) }
                    == true
            }
        return .noFile(path, in: place, nearest: nearest)
    }

    /// The greatest number of names that are compared with a missing name.
    private static let comparedNames = 20_000

    /// Runs `body`, and converts errors about a damaged archive to `damaged`.
    ///
    /// - Throws: errors of `body`.
    static func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error where error.reportsDamage {
            throw LookingError.damaged(error)
        }
    }

    /// Runs `body`, and converts errors about a damaged archive to `damaged`.
    ///
    /// - Throws: errors of `body`.
    static func translating<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error where error.reportsDamage {
            throw LookingError.damaged(error)
        }
    }
}
