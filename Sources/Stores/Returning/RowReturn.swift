internal import CSQLite

/// Rows of another state of a table, to be brought back into a live store.
///
/// It is an ordinary writer: one transaction, with the store's own triggers, while applications go on. Foreign
/// keys are checked at its end.
public struct RowReturn {
    /// What becomes of a row that is there with other values, or whose unique values another row has.
    public enum Conflict: String, Sendable, CaseIterable {
        /// The row there stays.
        case skip
        /// The row there gets the values of before; another one that has its unique values is deleted.
        case replace
        /// Nothing is written at all.
        case fail
    }

    /// How many rows came to what.
    public struct Outcome: Sendable, Equatable {
        /// Those that were not there.
        public var inserted: Int64 = 0
        /// Those that were there with other values, and have those of before.
        public var replaced: Int64 = 0
        /// Those that stayed though they differ.
        public var skipped: Int64 = 0
        /// Those that were there with the same values.
        public var unchanged: Int64 = 0
        /// Other rows of the table, deleted since they had unique values of those that came back.
        public var removed: Int64 = 0
        /// The keys of the first of them, in words.
        public var removedKeys: [String] = []
        /// Rows that went or changed with them, by triggers and foreign keys, by the names of their tables.
        ///
        /// Those of tables without rowids have no name.
        public var alongside: [String: Int64] = [:]

        public init() {}
    }

    let source: ReadableStore
    /// The table as the source has it.
    let from: TableSchema
    /// The table as the live store has it.
    let into: TableSchema
    let identity: TableIdentity
    let onConflict: Conflict
    /// The places of the columns in the live table that both have.
    let columns: [Int]
    private let selection: String

    /// Chooses rows.
    ///
    /// - Parameters:
    ///   - source: the state that has the rows.
    ///   - from: the table in it.
    ///   - into: the table of the live store.
    ///   - condition: what rows must meet, as SQL; `nil` for all.
    ///   - onConflict: what becomes of rows that are there.
    /// - Throws: `StoreError` if the condition is none, or if the tables have no column in common.
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
            let reason = "the columns of '\(into.name)' are others than they were"
            throw StoreError.unreadable(source.name, reason: reason)
        }
        columns = common
        let names = common.map { into.columns[$0].name.sqlIdentifier }
        let rowID = from.rowIDName ?? "0"
        let start =
            "SELECT \(([rowID] + names).joined(separator: ", ")) FROM main.\(from.name.sqlIdentifier)"
        // A comment at its end would swallow the parenthesis.
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

    /// Finds by what rows of both states are known to be the same.
    ///
    /// A rowid that is no column may be given out anew at any time: it knows nothing.
    private static func identity(
        of from: TableSchema,
        _ into: TableSchema,
        _ selection: String,
        _ source: ReadableStore
    ) throws -> TableIdentity {
        // Their texts are read as UTF-8, whatever the stores keep.
        switch TableIdentity(of: into, and: from, isUTF8: true) {
        case .content: return .content
        case .rowID:
            guard let old = from.rowIDAlias, let new = into.rowIDAlias,
                from.columns[old].name.foldedIdentifier
                    == into.columns[new].name.foldedIdentifier
            else { return .content }
            return .rowID
        case .primaryKey:
            // NULLs in a key are no key: any number of rows may have them.
            let keys = into.primaryKey.map { "\(into.columns[$0].name.sqlIdentifier) IS NULL" }
            let sql =
                "SELECT EXISTS (SELECT 1 FROM (\(selection)) WHERE \(keys.joined(separator: " OR ")))"
            return try source.reading { try source.number(sql) } == 0 ? .primaryKey : .content
        }
    }

    /// Names of columns that the rows had, and that have no place now.
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

    /// Returns the files that the rows refer to.
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
