internal import CSQLite

/// A copy of a schema without rows, in memory, on which it is tried what writing would need and do.
///
/// Nothing is run but the statements that make the copy. A function or a collation that only the
/// application has is told, and does not end the trial.
public final class SchemaProbe {
    /// What a statement would need or do.
    public struct Outcome: Equatable, Sendable {
        /// Functions that are not here, by their names.
        public var missingFunctions: Set<String> = []
        /// Collations that are not here, by their names.
        public var missingCollations: Set<String> = []
        /// SQLite's reason for which it cannot be done at all.
        public var failure: String?
        /// Tables that would get rows, or lose some.
        public var changedTables: Set<String> = []
        /// Columns of tables that would change.
        public var changedColumns: Set<Column> = []

        /// Whether all is here that it needs.
        public var isPossible: Bool {
            failure == nil && missingFunctions.isEmpty && missingCollations.isEmpty
        }
    }

    /// A column, by its table's name and its own.
    public struct Column: Hashable, Sendable {
        public let table: String
        public let name: String

        public init(table: String, name: String) {
            self.table = table
            self.name = name
        }
    }

    private let scratch: ScratchDatabase
    /// The reasons for which tables could not be copied.
    private var failures: [String: String] = [:]
    private var stubs = Stubs()
    /// The collations that are here, in ASCII lower case.
    private let collations: Set<String>

    /// Copies a schema.
    ///
    /// - Throws: `StoreError` if SQLite has no memory for it.
    public init(_ schema: StoreSchema) throws {
        scratch = try ScratchDatabase(name: "probe")
        let known = try scratch.prepare("SELECT name FROM pragma_collation_list")
        var collations: Set<String> = []
        while try known.step() { collations.insert(known.text(0)?.foldedIdentifier ?? "") }
        self.collations = collations
        sqlite3_limit(scratch.handle, SQLITE_LIMIT_LENGTH, 16 << 20)
        csqlite_enable_triggers(scratch.handle, 0)
        for kind in [TableSchema.Kind.virtual, .table, .shadow, .view] {
            for table in schema.tables where table.kind == kind { copy(table) }
        }
        // They stood in while the copy was made; now each trial tells what it needs.
        stubs.removeAll(from: scratch.handle)
    }

    private func copy(_ table: TableSchema) {
        // A virtual table makes its shadow tables itself.
        if table.kind == .shadow, exists(table.name) { return }
        if let reason = create(table.sql) { failures[table.name.foldedIdentifier] = reason }
        for index in table.indexes {
            guard let sql = index.sql, let reason = create(sql) else { continue }
            failures[table.name.foldedIdentifier] = reason
        }
    }

    private func exists(_ table: String) -> Bool {
        (try? scratch.prepare("SELECT 1 FROM main.\(table.sqlIdentifier)")) != nil
    }

    /// Runs a statement of the schema.
    ///
    /// - Returns: the reason if it fails.
    private func create(_ sql: String) -> String? {
        guard sql.foldedIdentifier.hasPrefix("create ") else { return "it is no schema" }
        while true {
            do {
                try scratch.run(sql)
                return nil
            } catch {
                let reason = reason(of: error)
                guard stubs.add(for: reason, to: scratch.handle) else { return reason }
            }
        }
    }

    private func reason(of error: any Error) -> String {
        switch error {
        case StoreError.damaged(_, let reason), StoreError.unreadable(_, let reason): reason
        default: "\(error)"
        }
    }

    // MARK: - Trials

    /// Tries to insert, update and delete rows of a table, with no triggers.
    public func writing(to table: TableSchema) -> Outcome {
        if let failure = failures[table.name.foldedIdentifier] {
            return Outcome(failure: failure)
        }
        // Where a key misses its collation, SQLite may say only that it finds no way to the rows.
        for collation in Set(table.indexes.flatMap(\.keys).map(\.collation))
        where !collations.contains(collation.foldedIdentifier) {
            stubs.addCollation(collation, to: scratch.handle)
        }
        return attempt(Self.writes(to: table), trigger: nil)
    }

    /// Tries what a trigger does when rows of its table change.
    public func firing(_ trigger: TriggerSchema, of table: TableSchema) -> Outcome {
        if let failure = create(trigger.sql) { return Outcome(failure: failure) }
        stubs.removeAll(from: scratch.handle)
        csqlite_enable_triggers(scratch.handle, 1)
        defer {
            csqlite_enable_triggers(scratch.handle, 0)
            try? scratch.run("DROP TRIGGER main.\(trigger.name.sqlIdentifier)")
        }
        return attempt(Self.writes(to: table), trigger: trigger.name)
    }

    /// Returns whether a CHECK lets a table have one row alone, by its number: 0 or 1, as in
    /// `id INTEGER PRIMARY KEY CHECK (id = 1)`.
    ///
    /// Other columns are tried with plain values; where a CHECK refuses those too, the answer is no.
    public func keepsOneNumber(_ table: TableSchema) -> Bool {
        guard let alias = table.rowIDAlias, table.sql.foldedIdentifier.contains("check"),
            failures[table.name.foldedIdentifier] == nil
        else { return false }
        let filled = table.storedColumns.filter { $0 != alias && table.columns[$0].isNotNull }
        let columns = ([alias] + filled).map { table.columns[$0].name.sqlIdentifier }
        let values = filled.map { place in
            switch table.columns[place].affinity {
            case .text, .blob: "'x'"
            default: "1"
            }
        }
        func takes(_ number: Int64) -> Bool {
            let name = "main.\(table.name.sqlIdentifier)"
            defer { try? scratch.run("DELETE FROM \(name)") }
            let row = (["\(number)"] + values).joined(separator: ", ")
            let columns = columns.joined(separator: ", ")
            let insert = "INSERT INTO \(name) (\(columns)) VALUES (\(row))"
            return (try? scratch.run(insert)) != nil
        }
        return takes(0) != takes(1) && !takes(2) && !takes(1_000_003)
    }

    private static func writes(to table: TableSchema) -> [String] {
        let name = "main.\(table.name.sqlIdentifier)"
        let columns = table.storedColumns.map { table.columns[$0].name.sqlIdentifier }
        let places = columns.map { "\($0) = \($0)" }.joined(separator: ", ")
        return ["INSERT INTO \(name) DEFAULT VALUES", "DELETE FROM \(name)"]
            + (columns.isEmpty ? [] : ["UPDATE \(name) SET \(places)"])
    }

    /// Prepares statements, and has the authorizer tell what they would do.
    private func attempt(_ statements: [String], trigger: String?) -> Outcome {
        let witness = Witness(trigger: trigger)
        let context = Unmanaged.passUnretained(witness).toOpaque()
        sqlite3_set_authorizer(scratch.handle, Witness.callback, context)
        defer {
            sqlite3_set_authorizer(scratch.handle, nil, nil)
            stubs.removeAll(from: scratch.handle)
        }
        for statement in statements {
            while witness.outcome.failure == nil {
                do {
                    _ = try scratch.prepare(statement)
                    break
                } catch {
                    let reason = reason(of: error)
                    if !stubs.add(for: reason, to: scratch.handle) {
                        witness.outcome.failure = reason
                    }
                }
            }
        }
        var outcome = withExtendedLifetime(witness) { witness.outcome }
        outcome.missingFunctions = stubs.functions
        outcome.missingCollations = stubs.collations
        return outcome
    }
}

/// Notes what statements would do (https://www.sqlite.org/c3ref/set_authorizer.html).
private final class Witness {
    /// The trigger whose doings count; `nil` for those of no trigger.
    let trigger: String?
    var outcome = SchemaProbe.Outcome()

    init(trigger: String?) { self.trigger = trigger }

    static let callback:
        @convention(c) (
            UnsafeMutableRawPointer?, CInt, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafePointer<CChar>?, UnsafePointer<CChar>?
        ) -> CInt = { context, action, first, second, _, trigger in
            guard let context else { return SQLITE_DENY }
            let witness = Unmanaged<Witness>.fromOpaque(context).takeUnretainedValue()
            guard trigger.map(String.init(cString:)) == witness.trigger else { return SQLITE_OK }
            let table = first.map(String.init(cString:)) ?? ""
            switch action {
            case SQLITE_INSERT, SQLITE_DELETE:
                witness.outcome.changedTables.insert(table.foldedIdentifier)
            case SQLITE_UPDATE:
                let column = second.map(String.init(cString:)) ?? ""
                witness.outcome.changedColumns.insert(
                    .init(table: table.foldedIdentifier, name: column.foldedIdentifier)
                )
            default: break
            }
            return SQLITE_OK
        }
}

/// Functions and collations that do nothing, in place of those that only the application has.
private struct Stubs {
    private(set) var functions: Set<String> = []
    private(set) var collations: Set<String> = []

    /// Adds the one that SQLite misses, if its message says so.
    ///
    /// - Returns: `false` if it does not, or if this one is there already.
    mutating func add(for message: String, to database: OpaquePointer) -> Bool {
        if let name = Self.name(in: message, after: "no such collation sequence: ") {
            return addCollation(name, to: database)
        }
        let function =
            Self.name(in: message, after: "no such function: ")
            ?? Self.name(in: message, after: "unknown function: ")
        guard let function else { return false }
        let name = function.hasSuffix("()") ? String(function.dropLast(2)) : function
        guard functions.insert(name).inserted else { return false }
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        return sqlite3_create_function_v2(
            database,
            name,
            -1,
            flags,
            nil,
            { _, _, _ in },
            nil,
            nil,
            nil
        ) == SQLITE_OK
    }

    @discardableResult
    mutating func addCollation(_ name: String, to database: OpaquePointer) -> Bool {
        guard collations.insert(name).inserted else { return false }
        let compare:
            @convention(c) (
                UnsafeMutableRawPointer?, CInt, UnsafeRawPointer?, CInt, UnsafeRawPointer?
            ) -> CInt = { _, _, _, _, _ in 0 }
        return sqlite3_create_collation_v2(database, name, SQLITE_UTF8, nil, compare, nil)
            == SQLITE_OK
    }

    mutating func removeAll(from database: OpaquePointer) {
        for name in functions {
            sqlite3_create_function_v2(database, name, -1, SQLITE_UTF8, nil, nil, nil, nil, nil)
        }
        for name in collations {
            sqlite3_create_collation_v2(database, name, SQLITE_UTF8, nil, nil, nil)
        }
        functions = []
        collations = []
    }

    private static func name(in message: String, after prefix: String) -> String? {
        message.hasPrefix(prefix) ? String(message.dropFirst(prefix.count)) : nil
    }
}
