internal import CSQLite
public import Files
internal import GRDB
internal import SystemPackage

/// Rows of another state of a table, to be brought back into a live store.
///
/// It is an ordinary writer: one transaction, with the store's own triggers, while applications go on. Foreign
/// keys are checked at its end.
public struct RowReturn {
    /// What becomes of a row that is there with other values, or whose unique values another row has.
    public enum Conflict: String, Sendable, CaseIterable {
        /// The row there stays.
        case skip
        /// The row there gets the values of before.
        case replace
        /// Nothing is written at all.
        case fail
    }

    /// How many rows came to what.
    public struct Outcome: Sendable, Equatable, Codable {
        /// Those that were not there.
        public var inserted: Int64 = 0
        /// Those that were there with other values, and have those of before.
        public var replaced: Int64 = 0
        /// Those that stayed though they differ.
        public var skipped: Int64 = 0
        /// Those that were there with the same values.
        public var unchanged: Int64 = 0

        public init() {}
    }

    let source: ReadableStore
    /// The table as the source has it.
    let from: TableSchema
    /// The table as the live store has it.
    let into: TableSchema
    let identity: TableIdentity
    let onConflict: Conflict
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
        // Their texts are read as UTF-8, whatever the stores keep.
        identity = TableIdentity(of: into, and: from, isUTF8: true)
        let common = into.storedColumns.filter { from.column(into.columns[$0].name) != nil }
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
        selection = condition.map { "\(start) WHERE (\($0)\n)" } ?? start
        _ = try Statement(source.database, name: source.name, selection)
        _ = try condition.map {
            let test = "SELECT 1 WHERE (\($0)\n)"
            guard sqlite3_complete("\(test);") != 0 else {
                throw StoreError.unreadable(source.name, reason: "it does not end")
            }
        }
    }

    /// The places of the columns in the live table that both have.
    let columns: [Int]

    /// Names of columns that the rows had, and that have no place now.
    public var lostColumns: [String] {
        from.storedColumns.map { from.columns[$0].name }.filter { into.column($0) == nil }
    }

    /// Calls `body` with the rowid and the values of each row.
    func forEachRow(_ body: (Int64, [StoredValue]) throws -> Void) throws {
        let statement = try Statement(source.database, name: source.name, selection)
        while try statement.step() {
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

    /// Counts what would become of the rows, and writes nothing.
    ///
    /// Whether another row has a unique value is seen only when it is written.
    ///
    /// - Parameter live: the live store.
    /// - Returns: how many rows would come to what.
    /// - Throws: `RowReturnError.conflict`, `StoreError`.
    public func preview(in live: ReadableStore) throws -> Outcome {
        let target = try ReturnTarget(live.database, name: live.name, self, isWritten: false)
        return try run(into: target)
    }

    /// Brings the rows back.
    ///
    /// - Parameters:
    ///   - store: the live store.
    ///   - busyTimeout: how long another writer is waited for.
    ///   - check: called now and then; throws to stop, and then nothing is written.
    /// - Returns: what became of them.
    /// - Throws: `RowReturnError`; `StoreError`, `.busy` if another writer does not end. Then nothing was written.
    public func run(
        on store: Store,
        busyTimeout: Duration,
        check: () throws -> Void
    ) throws -> Outcome {
        let name = store.path.description
        let connection = try Connection(
            store.location,
            name: name,
            access: .own,
            busyTimeout: busyTimeout
        )
        let outcome = try connection.access { database in
            guard let handle = database.sqliteConnection else {
                throw StoreError.unreadable(name, reason: "its connection is closed")
            }
            return try write(handle, name, check)
        }
        try connection.close()
        return outcome
    }

    private func write(
        _ handle: OpaquePointer,
        _ name: String,
        _ check: () throws -> Void
    ) throws -> Outcome {
        func execute(_ sql: String) throws {
            let statement = try Statement(handle, name: name, sql)
            while try statement.step() {}
        }
        try execute("PRAGMA foreign_keys = ON")
        try execute("BEGIN IMMEDIATE")
        do {
            try execute("PRAGMA defer_foreign_keys = ON")
            let schema = try StoreSchema(of: handle, name: name)
            guard schema.table(into.name) == into else { throw RowReturnError.changedSchema(name) }
            let target = try ReturnTarget(handle, name: name, self, isWritten: true)
            let outcome = try run(into: target, check)
            if schema.isCoreData { try raiseCounter(handle, name) }
            do {
                try execute("COMMIT")
            } catch  where sqlite3_extended_errcode(handle) == SQLITE_CONSTRAINT | 3 << 8 {
                throw RowReturnError.missingParents(into.name, try missingParents(handle, name))
            }
            return outcome
        } catch {
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    private func run(
        into target: ReturnTarget,
        _ check: () throws -> Void = {}
    ) throws -> Outcome {
        var outcome = Outcome()
        var count = 0
        try forEachRow { rowID, values in
            count += 1
            if count % 256 == 0 { try check() }
            guard let present = try target.values(of: rowID, values) else {
                switch try target.insert(rowID, values) {
                case .inserted: outcome.inserted += 1
                case .replaced: outcome.replaced += 1
                case .skipped: outcome.skipped += 1
                }
                return
            }
            guard present != values else {
                outcome.unchanged += 1
                return
            }
            switch onConflict {
            case .skip: outcome.skipped += 1
            case .replace:
                try target.update(rowID, values)
                outcome.replaced += 1
            case .fail: throw RowReturnError.conflict(into.name, key: target.key(rowID, values))
            }
        }
        return outcome
    }

    /// Has Core Data never give out a key again that a row has (`Z_MAX`).
    private func raiseCounter(_ handle: OpaquePointer, _ name: String) throws {
        guard into.rowIDAlias != nil else { return }
        let statement = try Statement(
            handle,
            name: name,
            """
            UPDATE main.Z_PRIMARYKEY
            SET Z_MAX = max(Z_MAX, (SELECT max(rowid) FROM main.\(into.name.sqlIdentifier)))
            WHERE upper('Z' || Z_NAME) = upper(?1) AND Z_SUPER = 0
            """
        )
        try statement.bind(into.name, at: 1)
        while try statement.step() {}
    }

    /// Returns the tables that rows refer to which they lack.
    private func missingParents(_ handle: OpaquePointer, _ name: String) throws -> [String] {
        let statement = try Statement(
            handle,
            name: name,
            "SELECT DISTINCT \"table\", parent FROM pragma_foreign_key_check"
        )
        var tables: [String] = []
        while try statement.step() {
            let (table, parent) = (statement.text(0) ?? "", statement.text(1) ?? "")
            tables.append(table == into.name ? parent : table)
        }
        return Set(tables).sorted()
    }
}

/// Why rows did not come back; nothing was written.
public enum RowReturnError: ExplainedError, Equatable {
    /// A row is there with other values, or another row has its unique values; the key of the one that was to
    /// come back.
    case conflict(String, key: String)
    /// The rows refer to rows of other tables that are not there, or those refer to what is replaced.
    case missingParents(String, [String])
    /// A constraint of the table, or one of its triggers, refuses a row; SQLite's reason.
    case refused(String, key: String, reason: String)
    /// The application changed the schema meanwhile.
    case changedSchema(String)

    public var description: String {
        switch self {
        case .conflict(let table, let key):
            "a row of '\(table)' is there with other values, or another has its unique values: \(key)"
        case .missingParents(let table, let tables):
            "rows of '\(table)' would refer to rows that are not there, or be missed by others: of \(tables.map { "'\($0)'" }.joined(separator: ", "))"
        case .refused(let table, let key, let reason):
            "a row of '\(table)' is refused, \(key): \(reason)"
        case .changedSchema(let store): "the schema of '\(store)' was changed meanwhile"
        }
    }

    public var hint: String? {
        switch self {
        case .conflict: "say what becomes of such rows"
        case .missingParents(_, let tables):
            tables.first.map { "bring the rows of '\($0)' back first" }
        case .refused: nil
        case .changedSchema: "try again"
        }
    }
}
