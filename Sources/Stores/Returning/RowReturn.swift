internal import CSQLite
public import Files

/// Rows of another state of a table, to be brought back into a live store.
///
/// It writes as applications do: in one transaction, with the store's own triggers, while applications run. Foreign
/// keys are checked at the end of the transaction.
public struct RowReturn {
    /// The treatment of a row that exists with other values, or whose unique values another row has.
    public enum Conflict: String, Sendable, CaseIterable {
        /// The existing row stays.
        case skip
        /// The existing row gets the earlier values; another row with its unique values is deleted.
        case replace
        /// Nothing is written at all.
        case fail
    }

    /// The numbers of rows by result.
    public struct Outcome: Sendable, Equatable {
        /// The rows that did not exist.
        public var inserted: Int64 = 0
        /// The rows that existed with other values, and got the earlier ones.
        public var replaced: Int64 = 0
        /// The rows that stayed although they differ.
        public var skipped: Int64 = 0
        /// The rows that existed with the same values.
        public var unchanged: Int64 = 0
        /// Other rows of the table, deleted because they had unique values of returning rows.
        public var removed: Int64 = 0
        /// The keys of the first deleted rows, in words.
        public var removedKeys: [String] = []
        /// The rows that triggers and foreign keys deleted or changed, by the names of their tables.
        ///
        /// Rows of tables without rowids are under an empty name.
        public var alongside: [String: Int64] = [:]

        public init() {}
    }

    let source: ReadableStore
    /// The table in the source.
    let from: TableSchema
    /// The table in the live store.
    let into: TableSchema
    let identity: TableIdentity
    let onConflict: Conflict
    /// The indices of the live table's columns that both tables have.
    let columns: [Int]
    private let selection: String

    /// Selects rows.
    ///
    /// - Parameters:
    ///   - source: the state that has the rows.
    ///   - from: the table in the source.
    ///   - into: the table in the live store.
    ///   - condition: the condition for rows, as SQL; `nil` for all rows.
    ///   - onConflict: the treatment of existing rows.
    /// - Throws: `StoreError` if the condition is not valid, or if the tables have no column in common.
    public init(
        from source: ReadableStore,
        table from: TableSchema,
        into: TableSchema,
        where condition: String?,
        onConflict: Conflict
    ) throws {
        self.source = source
        self.from = from
        self.into = into
        self.onConflict = onConflict
        let common = into.storedColumns.filter { place in
            from.column(into.columns[place].name).map { from.columns[$0].kind == .stored } ?? false
        }
        guard !common.isEmpty else {
            let reason = "the columns of '\(into.name)' have changed"
            throw StoreError.unreadable(source.name, reason: reason)
        }
        columns = common
        let names = common.map { into.columns[$0].name.sqlIdentifier }
        let rowID = from.rowIDName ?? "0"
        let start =
            "SELECT \(([rowID] + names).joined(separator: ", ")) FROM main.\(from.name.sqlIdentifier)"
        // The line break ends a comment in the condition, which would otherwise swallow the parenthesis.
        let selection = condition.map { "\(start) WHERE (\($0)\n)" } ?? start
        try Self.refuseMore(than: selection, in: source)
        _ = try condition.map {
            let test = "SELECT 1 WHERE (\($0)\n)"
            guard sqlite3_complete("\(test);") != 0 else {
                throw StoreError.unreadable(source.name, reason: "it does not end")
            }
        }
        self.selection = selection
        identity = try Self.identity(of: from, into, selection, source)
    }

    /// Throws if a text is no statement, or more than one.
    private static func refuseMore(than sql: String, in source: ReadableStore) throws {
        var pointer: OpaquePointer?
        let isOne = sql.withCString { start in
            var tail: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v2(source.database, start, -1, &pointer, &tail)
            return code == SQLITE_OK ? tail?.pointee == 0 : nil
        }
        defer { sqlite3_finalize(pointer) }
        guard let isOne else {
            let code = sqlite3_errcode(source.database)
            throw StoreError(source.name, code: code, of: source.database)
        }
        guard isOne else {
            throw StoreError.unreadable(source.name, reason: "there is more behind it")
        }
    }

    /// Determines how the same row is recognised in both states.
    ///
    /// A rowid that is no column may be assigned again at any time, so it identifies nothing.
    private static func identity(
        of from: TableSchema,
        _ into: TableSchema,
        _ selection: String,
        _ source: ReadableStore
    ) throws -> TableIdentity {
        // Texts are read as UTF-8, whatever the encoding of the stores.
        switch TableIdentity(of: into, and: from, isUTF8: true) {
        case .content: return .content
        case .rowID:
            guard let old = from.rowIDAlias, let new = into.rowIDAlias,
                from.columns[old].name.foldedIdentifier
                    == into.columns[new].name.foldedIdentifier
            else { return .content }
            return .rowID
        case .primaryKey:
            // A key with NULL identifies nothing, since any number of rows may have it.
            let keys = into.primaryKey.map { "\(into.columns[$0].name.sqlIdentifier) IS NULL" }
            let sql =
                "SELECT EXISTS (SELECT 1 FROM (\(selection)) WHERE \(keys.joined(separator: " OR ")))"
            return try source.reading { try source.number(sql) } == 0 ? .primaryKey : .content
        }
    }

    /// The names of the rows' columns that the live table does not have.
    public var lostColumns: [String] {
        from.storedColumns.map { from.columns[$0].name }.filter { into.column($0) == nil }
    }

    /// Calls `body` with the rowid and the values of each row.
    func forEachRow(_ body: (Int64, [StoredValue]) throws -> Void) throws {
        let statement = try Statement(source.database, name: source.name, selection)
        while try source.reading({ try statement.step() }) {
            let values = columns.indices.map { statement.value(CInt($0 + 1)) }
            try body(statement.integer(0), values)
        }
    }

    /// Returns the files that a column of the rows names.
    ///
    /// Names that lead elsewhere are left out, as a backup does.
    /// - Throws: `StoreError`.
    public func paths(of files: ExternalFiles) throws -> Set<RelativePath> {
        let place = columns.firstIndex {
            into.columns[$0].name.foldedIdentifier == files.column.foldedIdentifier
        }
        guard files.table.foldedIdentifier == into.name.foldedIdentifier, let place else {
            return []
        }
        var paths: Set<RelativePath> = []
        try forEachRow { _, values in
            let name: [UInt8] =
                switch values[place] {
                case .text(let bytes), .blob(let bytes): bytes.array
                case .integer(let number): Array(String(number).utf8)
                case .null, .real: []
                }
            if let path = try? files.path(name) { paths.insert(path) }
        }
        return paths
    }

    /// Returns the files of external data that the rows refer to.
    ///
    /// - Throws: `StoreError`.
    public func references() throws -> Set<ExternalReference> {
        var references: Set<ExternalReference> = []
        try forEachRow { _, values in
            for value in values {
                if let reference = ExternalReference(value) { references.insert(reference) }
            }
        }
        return references
    }
}
