internal import Files

/// A search for rows of a store, which tells the keys by which they are known in other states of it.
public struct RowSearch {
    /// The rows that are wanted.
    public enum Wanted: Sendable {
        /// Those of which a text has this in it.
        case text(TextPattern)
        /// Those that meet this, as SQL.
        case condition(String)
    }

    /// SQLite gives no more columns of one question (limits.html, 2,000).
    private static let columnsLimit = 500

    private let snapshot: StoreSnapshot
    private let check: () throws -> Void

    /// Prepares to search a store.
    ///
    /// - Parameters:
    ///   - snapshot: the store.
    ///   - check: called now and then; throws to stop.
    public init(_ snapshot: StoreSnapshot, check: @escaping () throws -> Void) {
        self.snapshot = snapshot
        self.check = check
    }

    /// Calls `body` with the keys of the rows that are wanted, until it returns `false`; with some perhaps more than
    /// once.
    ///
    /// Texts of any length are looked into, blobs are not. A condition that does more than to read is refused. So is one
    /// that needs a collation which only the application has, as long as nothing stands in for that: see
    /// `ReadableStore`.
    /// - Parameters:
    ///   - wanted: the rows that are wanted.
    ///   - table: as the snapshot's schema has it.
    ///   - identity: how its rows are known; not by their content.
    ///   - body: takes a key.
    /// - Throws: `QueryError` if the condition is none; `StoreError`; what `body` and `check` throw.
    public func forEachKey(
        of wanted: Wanted,
        in table: TableSchema,
        by identity: TableIdentity,
        _ body: (RowKey) throws -> Bool
    ) throws {
        precondition(identity != .content, "rows without a key are not followed")
        switch wanted {
        case .text(let pattern):
            let store = try ReadableStore(snapshot)
            try store.reading {
                try store.interruptible(by: check) {
                    try forEachKey(with: pattern, of: table, in: store, identity, body)
                }
            }
        case .condition(let condition):
            try forEachKey(where: condition, in: table, identity, body)
        }
    }

    private func forEachKey(
        where condition: String,
        in table: TableSchema,
        _ identity: TableIdentity,
        _ body: (RowKey) throws -> Bool
    ) throws {
        guard StoreSnapshot.isComplete("SELECT 1 WHERE (\(condition)\n);") else {
            throw QueryError.wrong(reason: "it does not end", near: nil, nearest: nil)
        }
        let keys = table.keyNames(by: identity).joined(separator: ", ")
        // A comment at its end would swallow the parenthesis.
        let sql = "SELECT \(keys) FROM main.\(table.name.sqlIdentifier) WHERE (\(condition)\n)"
        try snapshot.query(sql, checking: check) { answer in
            guard case .row(let values) = answer else { return true }
            return try body(RowKey(values, by: identity))
        }
    }

    private func forEachKey(
        with pattern: TextPattern,
        of table: TableSchema,
        in store: ReadableStore,
        _ identity: TableIdentity,
        _ body: (RowKey) throws -> Bool
    ) throws {
        let columns = table.storedColumns
        let keys = table.keyNames(by: identity)
        for start in stride(from: 0, to: columns.count, by: Self.columnsLimit) {
            let part = columns[start..<min(start + Self.columnsLimit, columns.count)]
            // The class stands in a row's header: SQLite reads no blob to tell it.
            let texts = part.map { place in
                let name = table.columns[place].name.sqlIdentifier
                return "CASE WHEN typeof(\(name)) = 'text' THEN \(name) END"
            }
            let statement = try Statement(
                store.database,
                name: store.name,
                """
                SELECT \((keys + texts).joined(separator: ", "))
                FROM main.\(table.name.sqlIdentifier)
                """
            )
            while try statement.step() {
                let isFound = texts.indices.contains { index in
                    let place = CInt(keys.count + index)
                    return statement.storageClass(place) == .text
                        && pattern.isFound(in: statement.unsafeBytes(place))
                }
                guard isFound else { continue }
                let values = keys.indices.map { statement.value(CInt($0)) }
                guard try body(RowKey(values, by: identity)) else { return }
            }
        }
    }
}

extension RowKey {
    /// Makes a key of the values that `keyNames` asks for.
    fileprivate init(_ values: [StoredValue], by identity: TableIdentity) {
        if identity == .rowID, case .integer(let number)? = values.first {
            self = .rowID(number)
        } else {
            self.init(primaryKey: values)
        }
    }
}

extension TableSchema {
    /// The columns of the key by which rows are known, as SQL.
    func keyNames(by identity: TableIdentity) -> [String] {
        switch identity {
        case .rowID: [rowIDName ?? "rowid"]
        case .primaryKey: primaryKey.map { columns[$0].name.sqlIdentifier }
        case .content: []
        }
    }
}
