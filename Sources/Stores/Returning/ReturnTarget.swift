internal import CSQLite

/// The table of a live store into which rows come back.
final class ReturnTarget {
    /// What became of a row whose key nobody had.
    enum Insertion {
        case inserted, replaced, skipped
    }

    private final class Prepared {
        let statement: Statement

        init(_ statement: consuming Statement) { self.statement = statement }
    }

    private let database: OpaquePointer
    private let name: String
    private let rows: RowReturn
    /// The places in `rows.columns` of those by which rows are known; none if that is the rowid.
    private let keyPlaces: [Int]
    private let lookup: Prepared
    /// None of a store that is only read.
    private var writing: (insert: Prepared, replace: Prepared, update: Prepared)?

    /// Prepares what is asked and written for each row.
    ///
    /// - Throws: `StoreError`.
    init(
        _ database: OpaquePointer,
        name: String,
        _ rows: RowReturn,
        isWritten: Bool
    ) throws {
        self.database = database
        self.name = name
        self.rows = rows
        let table = rows.into
        let names = rows.columns.map { table.columns[$0].name.sqlIdentifier }
        let places: [Int] =
            switch rows.identity {
            case .rowID: []
            case .primaryKey: table.primaryKey.compactMap { rows.columns.firstIndex(of: $0) }
            case .content: Array(names.indices)
            }
        keyPlaces = places
        let keys = rows.identity == .rowID ? [table.rowIDName ?? "rowid"] : places.map { names[$0] }
        let condition = keys.enumerated().map { "\($1) IS ?\($0 + 1)" }.joined(separator: " AND ")
        let subject = "main.\(table.name.sqlIdentifier)"
        func prepare(_ sql: String) throws -> Prepared {
            Prepared(try Statement(database, name: name, sql))
        }
        lookup = try prepare(
            "SELECT \(names.joined(separator: ", ")) FROM \(subject) WHERE \(condition) LIMIT 1"
        )
        guard isWritten else { return }
        let isNumbered = rows.identity == .rowID && table.rowIDAlias == nil
        let columns = (isNumbered ? [table.rowIDName ?? "rowid"] : []) + names
        let values = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let row = "INTO \(subject) (\(columns.joined(separator: ", "))) VALUES (\(values))"
        let changes = names.enumerated().map { "\($1) = ?\(keys.count + $0 + 1)" }
        writing = (
            try prepare("INSERT \(row)"), try prepare("INSERT OR REPLACE \(row)"),
            try prepare(
                "UPDATE \(subject) SET \(changes.joined(separator: ", ")) WHERE \(condition)"
            )
        )
    }

    /// Returns the values that the row of this key has; `nil` if there is none.
    func values(of rowID: Int64, _ values: [StoredValue]) throws -> [StoredValue]? {
        let statement = lookup
        try bind(keyValues(rowID, values), to: statement)
        defer { statement.statement.reset() }
        guard try statement.statement.step() else { return nil }
        return rows.columns.indices.map { statement.statement.value(CInt($0)) }
    }

    /// Writes a row whose key nobody has.
    ///
    /// - Throws: `RowReturnError`, `StoreError`.
    func insert(_ rowID: Int64, _ values: [StoredValue]) throws -> Insertion {
        guard let writing else { return .inserted }
        let isNumbered = rows.identity == .rowID && rows.into.rowIDAlias == nil
        let all = (isNumbered ? [.integer(rowID)] : []) + values
        do {
            try run(writing.insert, all)
            return .inserted
        } catch  where isOfUniqueness {
            switch rows.onConflict {
            case .skip: return .skipped
            case .fail: throw RowReturnError.conflict(rows.into.name, key: key(rowID, values))
            case .replace: break
            }
        } catch {
            throw explained(error, rowID, values)
        }
        do {
            try run(writing.replace, all)
            return .replaced
        } catch {
            throw explained(error, rowID, values)
        }
    }

    /// Gives the row of a key other values.
    ///
    /// - Throws: `RowReturnError`, `StoreError`.
    func update(_ rowID: Int64, _ values: [StoredValue]) throws {
        guard let writing else { return }
        do {
            try run(writing.update, keyValues(rowID, values) + values)
        } catch {
            throw explained(error, rowID, values)
        }
    }

    /// Returns a row's key in words.
    func key(_ rowID: Int64, _ values: [StoredValue]) -> String {
        guard !keyPlaces.isEmpty else {
            let name = rows.into.rowIDAlias.map { rows.into.columns[$0].name } ?? "rowid"
            return "\(name) = \(rowID)"
        }
        return keyPlaces.prefix(4).map { place in
            "\(rows.into.columns[rows.columns[place]].name) = \(values[place].sqlLiteral.prefix(60))"
        }.joined(separator: ", ")
    }

    private func keyValues(_ rowID: Int64, _ values: [StoredValue]) -> [StoredValue] {
        rows.identity == .rowID ? [.integer(rowID)] : keyPlaces.map { values[$0] }
    }

    private func bind(_ values: [StoredValue], to prepared: Prepared) throws {
        for (index, value) in values.enumerated() {
            try prepared.statement.bind(value, at: CInt(index + 1))
        }
    }

    private func run(_ prepared: Prepared, _ values: [StoredValue]) throws {
        try bind(values, to: prepared)
        defer { prepared.statement.reset() }
        while try prepared.statement.step() {}
    }

    /// Whether the statement that failed just now met a unique value (https://www.sqlite.org/rescode.html).
    private var isOfUniqueness: Bool {
        // SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE, _ROWID.
        [6, 8, 10].map { SQLITE_CONSTRAINT | $0 << 8 }.contains(sqlite3_extended_errcode(database))
    }

    private func explained(
        _ error: any Error,
        _ rowID: Int64,
        _ values: [StoredValue]
    ) -> any Error {
        guard case StoreError.unreadable(_, let reason) = error,
            sqlite3_errcode(database) & 0xFF == SQLITE_CONSTRAINT || reason.contains("no such")
        else { return error }
        return RowReturnError.refused(
            rows.into.name,
            key: key(rowID, values),
            reason: reason
        )
    }
}
