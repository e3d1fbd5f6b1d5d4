internal import CSQLite

/// The table of a live store that receives the rows.
final class ReturnTarget {
    /// The outcome for the rows so far.
    var outcome = RowReturn.Outcome()

    private let database: OpaquePointer
    private let name: String
    private let rows: RowReturn
    /// The indices in `rows.columns` of the columns that identify rows.
    private let keyPlaces: [Int]
    private let rivals: RivalRows
    private let lookup: Statement
    private let insert: Statement
    private let update: Statement
    /// The inserted rows: their rowids, or their keys in a table without rowids.
    private var inserted: [(rowID: Int64, key: [StoredValue])] = []

    /// Prepares the queries and writes for each row.
    ///
    /// - Throws: `StoreError`.
    init(
        _ database: OpaquePointer,
        name: String,
        _ rows: RowReturn,
        _ schema: StoreSchema
    ) throws {
        self.database = database
        self.name = name
        self.rows = rows
        let table = rows.into
        let names = rows.columns.map { table.columns[$0].name.sqlIdentifier }
        let places: [Int] =
            switch rows.identity {
            case .rowID: table.rowIDAlias.map { [$0] } ?? []
            case .primaryKey: table.primaryKey
            case .content: []
            }
        keyPlaces = places.compactMap(rows.columns.firstIndex)
        let keys = keyPlaces.isEmpty ? Array(names.indices) : keyPlaces
        let condition = keys.enumerated().map { "\(names[$1]) IS ?\($0 + 1)" }
            .joined(separator: " AND ")
        let subject = "main.\(table.name.sqlIdentifier)"
        func prepare(_ sql: String) throws -> Statement {
            try Statement(database, name: name, sql)
        }
        lookup = try prepare(
            "SELECT \(names.joined(separator: ", ")) FROM \(subject) WHERE \(condition) LIMIT 1"
        )
        let list = names.joined(separator: ", ")
        let values = names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        // A conflict clause of the table could silently replace other rows, or skip this one.
        insert = try prepare("INSERT OR ABORT INTO \(subject) (\(list)) VALUES (\(values))")
        let changes = names.enumerated().map { "\($1) = ?\(keys.count + $0 + 1)" }
        update = try prepare(
            "UPDATE OR ABORT \(subject) SET \(changes.joined(separator: ", ")) WHERE \(condition)"
        )
        rivals = try RivalRows(database, name: name, rows, schema)
    }

    /// Calls `body` with the values of each row in the table.
    func forEachRow(_ body: ([StoredValue]) throws -> Void) throws {
        let names = rows.columns.map { rows.into.columns[$0].name.sqlIdentifier }
        let statement = try Statement(
            database,
            name: name,
            "SELECT \(names.joined(separator: ", ")) FROM main.\(rows.into.name.sqlIdentifier)"
        )
        while try statement.step() {
            try body(rows.columns.indices.map { statement.value(CInt($0)) })
        }
    }

    /// Brings back a row that is identified by its key.
    ///
    /// - Throws: `RowReturnError`, `StoreError`.
    func bring(_ rowID: Int64, _ values: [StoredValue]) throws {
        guard let present = try present(values) else { return try insert(rowID, values) }
        guard present != values else {
            outcome.unchanged += 1
            return
        }
        switch rows.onConflict {
        case .skip: outcome.skipped += 1
        case .fail: throw RowReturnError.conflict(rows.into.name, key: key(rowID, values))
        case .replace:
            try write(update, keyValues(values) + values, rowID, values) { true }
            outcome.replaced += 1
        }
    }

    /// Writes a row whose key no row has.
    ///
    /// - Throws: `RowReturnError`, `StoreError`.
    func insert(_ rowID: Int64, _ values: [StoredValue]) throws {
        let isWritten = try write(insert, values, rowID, values) {
            switch rows.onConflict {
            case .skip: return false
            case .fail: throw RowReturnError.conflict(rows.into.name, key: key(rowID, values))
            case .replace: return true
            }
        }
        guard isWritten else {
            outcome.skipped += 1
            return
        }
        outcome.inserted += 1
        let number = sqlite3_last_insert_rowid(database)
        inserted.append((number, rows.into.rowIDName == nil ? keyValues(values) : []))
    }

    /// Throws if an inserted row is not there any more, since a trigger has removed it.
    ///
    /// - Throws: `RowReturnError.refused`, `StoreError`.
    func confirmInserted() throws {
        let table = rows.into
        let rowID = try table.rowIDName.map {
            try Statement(
                database,
                name: name,
                "SELECT 1 FROM main.\(table.name.sqlIdentifier) WHERE \($0) = ?"
            )
        }
        if rowID == nil, keyPlaces.isEmpty { return }
        let search = rowID ?? lookup
        for row in inserted {
            try search.bind(rowID == nil ? row.key : [.integer(row.rowID)])
            defer { search.reset() }
            if try search.step() { continue }
            let key =
                rowID == nil
                ? row.key.map(\.sqlLiteral).joined(separator: ", ") : "rowid \(row.rowID)"
            let reason = "a trigger removes it again"
            throw RowReturnError.refused(table.name, key: key, reason: reason)
        }
    }

    /// Returns the values of the row with this key; `nil` if there is none.
    private func present(_ values: [StoredValue]) throws -> [StoredValue]? {
        try lookup.bind(keyValues(values))
        defer { lookup.reset() }
        guard try lookup.step() else { return nil }
        return rows.columns.indices.map { lookup.value(CInt($0)) }
    }

    /// Writes a row; if others have its unique values, deletes those first.
    ///
    /// - Returns: whether the row was written.
    @discardableResult
    private func write(
        _ statement: Statement,
        _ bound: [StoredValue],
        _ rowID: Int64,
        _ values: [StoredValue],
        replacesRivals: () throws -> Bool
    ) throws -> Bool {
        do {
            try rivals.counting(&outcome) { try statement.run(bound) }
        } catch  where isOfUniqueness {
            guard try replacesRivals() else { return false }
            do {
                let own = keyPlaces.isEmpty ? nil : keyPlaces.map { values[$0] }
                try rivals.remove(of: values, but: own, &outcome)
                try rivals.counting(&outcome) { try statement.run(bound) }
            } catch  where isOfUniqueness {
                throw RowReturnError.unknownRival(
                    rows.into.name,
                    key: key(rowID, values),
                    index: String(cString: sqlite3_errmsg(database))
                )
            } catch {
                throw explained(error, rowID, values)
            }
        } catch {
            throw explained(error, rowID, values)
        }
        guard sqlite3_changes(database) > 0 else {
            let reason = "a trigger skips it"
            throw RowReturnError.refused(rows.into.name, key: key(rowID, values), reason: reason)
        }
        return true
    }

    /// Returns a row's key in words.
    private func key(_ rowID: Int64, _ values: [StoredValue]) -> String {
        let places = keyPlaces.isEmpty ? Array(rows.columns.indices) : keyPlaces
        return places.prefix(4).map { place in
            "\(rows.into.columns[rows.columns[place]].name) = \(values[place].sqlLiteral.prefix(60))"
        }.joined(separator: ", ")
    }

    private func keyValues(_ values: [StoredValue]) -> [StoredValue] {
        keyPlaces.isEmpty ? values : keyPlaces.map { values[$0] }
    }

    /// Whether the statement that just failed met a unique value.
    private var isOfUniqueness: Bool { Statement.isKeyTaken(in: database) }

    private func explained(
        _ error: any Error,
        _ rowID: Int64,
        _ values: [StoredValue]
    ) -> any Error {
        guard case StoreError.unreadable(_, let reason) = error,
            sqlite3_errcode(database) & 0xFF == SQLITE_CONSTRAINT || reason.contains("no such")
        else { return error }
        return RowReturnError(reason, table: rows.into.name, store: name)
            ?? .refused(rows.into.name, key: key(rowID, values), reason: reason)
    }
}
