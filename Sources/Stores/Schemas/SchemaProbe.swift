internal import CSQLite
public import Files

/// A copy of a schema without rows, in memory, that shows what writes would need and do.
///
/// It runs only the statements that create the copy. A missing function or collation of the application is reported,
/// and does not end the trial.
public final class SchemaProbe {
    /// The needs and effects of a statement.
    public struct Outcome: Equatable, Sendable {
        /// The names of missing functions.
        public var missingFunctions: Set<String> = []
        /// The names of missing collations.
        public var missingCollations: Set<String> = []
        /// SQLite's reason why the statement is impossible.
        public var failure: String?
        /// The tables that would gain or lose rows.
        public var changedTables: Set<ExactString> = []
        /// The columns that would change.
        public var changedColumns: Set<Column> = []

        /// Whether nothing is missing.
        public var isPossible: Bool {
            failure == nil && missingFunctions.isEmpty && missingCollations.isEmpty
        }
    }

    /// A column, by its table's name and its own.
    public struct Column: Hashable, Sendable {
        public let table: ExactString
        public let name: ExactString

        public init(table: ExactString, name: ExactString) {
            self.table = table
            self.name = name
        }
    }

    private let scratch: ScratchDatabase
    /// The reasons why tables could not be copied.
    private var failures: [ExactString: String] = [:]
    private var stubs = Stubs()
    /// The available collations, in ASCII lower case.
    private let collations: Set<ExactString>

    /// Copies a schema.
    ///
    /// - Throws: `StoreError` if SQLite has no memory for it.
    public init(_ schema: StoreSchema) throws {
        scratch = try ScratchDatabase(name: "probe", runsTriggers: true)
        let known = try scratch.prepare("SELECT name FROM pragma_collation_list")
        var collations: Set<ExactString> = []
        while try known.step() { collations.insert((known.text(0) ?? "").foldedIdentifier) }
        self.collations = collations
        sqlite3_limit(scratch.handle, SQLITE_LIMIT_LENGTH, 16 << 20)
        csqlite_enable_triggers(scratch.handle, 0)
        for kind in [TableSchema.Kind.virtual, .table, .shadow, .view] {
            for table in schema.tables where table.kind == kind { copy(table) }
        }
        // The stubs served only to create the copy; each trial reports its own needs.
        stubs.removeAll(from: scratch.handle)
    }

    private func copy(_ table: TableSchema) {
        // A virtual table creates its shadow tables itself.
        if table.kind == .shadow, exists(table.name) { return }
        if let reason = create(table.sql, table.kind == .view ? .view : .table) {
            failures[table.name.foldedIdentifier] = reason
        }
        for index in table.indexes {
            guard let sql = index.sql, let reason = create(sql, .index) else { continue }
            failures[table.name.foldedIdentifier] = reason
        }
    }

    private func exists(_ table: String) -> Bool {
        (try? scratch.prepare("SELECT 1 FROM main.\(table.sqlIdentifier)")) != nil
    }

    /// Runs a statement of the schema.
    ///
    /// - Returns: the reason if it fails.
    private func create(_ sql: String, _ kind: SchemaText.Kind) -> String? {
        while true {
            do {
                try SchemaText.run(sql, of: kind, on: scratch.handle, name: "probe")
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

    /// Tries to insert, update and delete rows of a table, without triggers.
    public func writing(to table: TableSchema) -> Outcome {
        if let failure = failures[table.name.foldedIdentifier] {
            return Outcome(failure: failure)
        }
        // If a key's collation is missing, SQLite may only report that it finds no way to the rows.
        for collation in Set(table.indexes.flatMap(\.keys).map(\.collation))
        where !collations.contains(collation.foldedIdentifier) {
            stubs.addCollation(collation, to: scratch.handle)
        }
        return attempt(Self.writes(to: table), trigger: nil)
    }

    /// Tries the effects of a trigger when rows of its table change.
    public func firing(_ trigger: TriggerSchema, of table: TableSchema) -> Outcome {
        if let failure = create(trigger.sql, .trigger) { return Outcome(failure: failure) }
        stubs.removeAll(from: scratch.handle)
        csqlite_enable_triggers(scratch.handle, 1)
        defer {
            csqlite_enable_triggers(scratch.handle, 0)
            try? scratch.run("DROP TRIGGER main.\(trigger.name.sqlIdentifier)")
        }
        return attempt(Self.writes(to: table), trigger: trigger.name)
    }

    /// Returns whether a CHECK allows only one row, with one number: 0 or 1.
    ///
    /// An example is `id INTEGER PRIMARY KEY CHECK (id = 1)`. Other columns are tried with plain values; if a CHECK
    /// refuses those, the result is `false`.
    public func keepsOneNumber(_ table: TableSchema) -> Bool {
        guard let alias = table.rowIDAlias, table.sql.foldedIdentifier.text.contains("check"),
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

    /// Prepares statements, and records their effects by the authorizer.
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

/// A record of the effects of statements (https://www.sqlite.org/c3ref/set_authorizer.html).
private final class Witness {
    /// The trigger whose effects count; `nil` for effects outside triggers.
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
            guard trigger.map(String.init(cString:))?.exact == witness.trigger?.exact else {
                return SQLITE_OK
            }
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

/// Functions and collations without effect, as substitutes for the application's own.
private struct Stubs {
    private(set) var functions: Set<String> = []
    private(set) var collations: Set<String> = []

    /// Adds the function or collation that SQLite reports as missing.
    ///
    /// - Returns: `false` if the message reports none, or if it was added before.
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
