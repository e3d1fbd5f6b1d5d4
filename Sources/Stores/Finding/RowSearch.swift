internal import Files

/// A search for rows of a store, which returns the keys that identify them in other states of the store.
public struct RowSearch {
    /// The criterion of a search.
    public enum Wanted: Sendable {
        /// Rows with a text that contains this one.
        case text(TextPattern)
        /// Rows that meet this condition, as SQL.
        case condition(String)
    }

    /// The number of columns in one query; SQLite allows at most 2,000 (limits.html).
    private static let columnsLimit = 500

    private let snapshot: StoreSnapshot
    private let check: () throws -> Void

    /// Prepares to search a store.
    ///
    /// - Parameters:
    ///   - snapshot: the store.
    ///   - check: a closure that is called now and then, and throws to stop.
    public init(_ snapshot: StoreSnapshot, check: @escaping () throws -> Void) {
        self.snapshot = snapshot
        self.check = check
    }

    /// Calls `body` with the keys of the matching rows until it returns `false`.
    ///
    /// It may pass some keys more than once.
    ///
    /// Texts of any length are searched, blobs are not. A condition that does more than read is refused. So is a
    /// condition that needs a collation of the application, unless a substitute is registered: see `ReadableStore`.
    ///
    /// - Parameters:
    ///   - wanted: the criterion.
    ///   - table: the table in the snapshot's schema.
    ///   - identity: the identity of its rows, which is not `content`.
    ///   - body: a closure that takes a key.
    /// - Throws: `QueryError` if the condition is not valid; `StoreError`; any error of `body` and `check`.
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
        // The line break ends a comment in the condition, which would otherwise swallow the parenthesis.
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
            // A row's header contains the storage class, so SQLite reads no blob for it.
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
    /// Creates a key from the values of the columns in `keyNames`.
    fileprivate init(_ values: [StoredValue], by identity: TableIdentity) {
        if identity == .rowID, case .integer(let number)? = values.first {
            self = .rowID(number)
        } else {
            self.init(primaryKey: values)
        }
    }
}

extension TableSchema {
    /// Returns the columns of the key that identifies rows, as SQL.
    func keyNames(by identity: TableIdentity) -> [String] {
        switch identity {
        case .rowID: [rowIDName ?? "rowid"]
        case .primaryKey: primaryKey.map { columns[$0].name.sqlIdentifier }
        case .content: []
        }
    }
}
