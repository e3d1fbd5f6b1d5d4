internal import CSQLite
internal import Stores

/// A table of a mirror, with the statements that try rows.
final class MirrorTable {
    private let insertion: Statement
    private let selection: Statement
    private let removal: Statement
    private let count: Int
    private let name: String
    /// SQLite's words on the last row that it refused.
    private(set) var words: String?
    private var evaluations: [String: Statement] = [:]

    init(_ schema: TableSchema, _ database: OpaquePointer) throws {
        let columns = schema.storedColumns.map { schema.columns[$0].name.sqlIdentifier }
        count = columns.count
        let name = schema.name.sqlIdentifier
        self.name = name
        let list = columns.joined(separator: ", ")
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        func statement(_ sql: String) throws -> Statement {
            try Statement(database, name: schema.name, sql)
        }
        insertion = try statement("INSERT OR ABORT INTO main.\(name) (\(list)) VALUES (\(marks))")
        selection = try statement("SELECT \(list) FROM main.\(name)")
        removal = try statement("DELETE FROM main.\(name)")
    }

    /// Returns a row as SQLite stores it, and leaves the table empty; `nil` if the row is refused.
    func take(_ values: [StoredValue]) throws -> [StoredValue]? {
        insertion.reset()
        try insertion.bind(values)
        let code = sqlite3_step(insertion.pointer)
        guard code == SQLITE_DONE else {
            words = String(cString: sqlite3_errmsg(insertion.database))
            insertion.reset()
            // A key that is not an integer is a mismatch.
            let refusals = [SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_ERROR]
            guard refusals.contains(code & 0xFF) else {
                throw StoreError("memory", code: code, of: insertion.database)
            }
            return nil
        }
        insertion.reset()
        selection.reset()
        guard try selection.step() else { return values }
        let taken = (0..<count).map { selection.value(CInt($0)) }
        selection.reset()
        removal.reset()
        _ = try removal.step()
        removal.reset()
        return taken
    }

    /// Returns the terms of an index for an accepted row; `nil` if the index does not contain the row.
    func evaluate(_ terms: IndexTerms, _ values: [StoredValue]) throws -> [StoredValue]? {
        insertion.reset()
        try insertion.bind(values)
        let isTaken = sqlite3_step(insertion.pointer) == SQLITE_DONE
        insertion.reset()
        guard isTaken else { return nil }
        let condition = terms.condition.map { " WHERE \($0)" } ?? ""
        let sql = "SELECT \(terms.terms.joined(separator: ", ")) FROM main.\(name)\(condition)"
        let evaluation =
            try evaluations[sql]
            ?? Statement(insertion.database, name: name, sql)
        evaluations[sql] = evaluation
        let hasPlace = try evaluation.step()
        let found =
            hasPlace ? terms.terms.indices.map { evaluation.value(CInt($0)) } : nil
        evaluation.reset()
        removal.reset()
        _ = try removal.step()
        removal.reset()
        return found
    }
}
