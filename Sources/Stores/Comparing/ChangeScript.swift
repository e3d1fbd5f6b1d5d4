internal import CSQLite

/// Statements of SQLite that turn one state of a store into another.
///
/// Run on the old state, they give the tables, indexes, triggers and views of the new one, and rows with the
/// same rowids, classes and bytes. Tables that were made by other statements are made anew. What SQLite keeps
/// for itself does not count, but for the numbers that AUTOINCREMENT has given out.
public struct ChangeScript {
    private let diff: StoreDiff
    private let rows: RowScript
    /// The tables that both states have, made by the same statement, whose rows differ.
    private let touched: Set<String>

    /// Finds which tables differ.
    ///
    /// - Throws: `StoreError`.
    public init(_ diff: StoreDiff) throws {
        self.diff = diff
        let rows = try RowScript(diff)
        self.rows = rows
        touched = try diff.reading {
            let pairs = try diff.pairs.filter { try $0.isSameTable && rows.differs($0) }
            return Set(pairs.map(\.name.foldedIdentifier))
        }
    }

    /// Calls `emit` for each statement, which has its semicolon, and no line end.
    ///
    /// - Throws: `StoreError`; what `emit` throws.
    public func write(_ emit: (String) throws -> Void) throws {
        try diff.reading { try writeOnce(emit) }
    }

    private func writeOnce(_ emit: (String) throws -> Void) throws {
        guard try !isEmpty else { return }
        try emit("PRAGMA foreign_keys = OFF;")
        try emit("PRAGMA ignore_check_constraints = ON;")
        try emit("BEGIN;")
        try writeRemovals(emit)
        for pair in diff.pairs where isMadeAnew(pair) && pair.new?.kind == .virtual {
            try emit(Self.statement(pair.present.sql))
        }
        for pair in diff.pairs where isMadeAnew(pair) && isPlain(pair.new) {
            try emit(Self.statement(pair.present.sql))
        }
        for pair in diff.pairs { try writeRows(of: pair, emit) }
        try writeSequence(emit)
        try writeAdditions(emit)
        try writeNumbers(emit)
        try emit("COMMIT;")
        try emit("PRAGMA ignore_check_constraints = OFF;")
    }

    /// Whether there is nothing to do.
    public var isEmpty: Bool {
        get throws {
            guard touched.isEmpty, diff.schema.tables.isEmpty else { return false }
            return try !differsInSequence()
                && diff.numbers().isEmpty
        }
    }

    private func differsInSequence() throws -> Bool {
        let isThere = diff.pairs.contains { $0.new?.isAutoincrement == true }
        let (old, new) = (try diff.old.sequence(), try diff.new.sequence())
        return (old != nil || isThere) && old ?? [] != new ?? []
    }

    // MARK: - Schema

    /// Whether a table is dropped, made or both.
    private func isMadeAnew(_ pair: TablePair) -> Bool {
        !pair.isSameTable && !isPart(pair.new) && !isPart(pair.old)
    }

    private func isPlain(_ table: TableSchema?) -> Bool {
        table?.kind == .table || table?.kind == .shadow
    }

    /// Whether a table belongs to a virtual one that is dropped or made, and goes and comes with it.
    private func isPart(_ table: TableSchema?) -> Bool {
        guard let table, table.kind == .shadow else { return false }
        let name = table.name.foldedIdentifier
        return diff.pairs.contains { pair in
            (pair.old?.kind == .virtual || pair.new?.kind == .virtual) && !pair.isSameTable
                && name.hasPrefix("\(pair.name.foldedIdentifier)_")
        }
    }

    /// Triggers would do more than is wanted, and indexes refuse what is only on the way.
    private func writeRemovals(_ emit: (String) throws -> Void) throws {
        for pair in diff.pairs {
            guard let old = pair.old, pair.isSameTable else { continue }
            for trigger in old.triggers where !keeps(trigger, pair) {
                try emit("DROP TRIGGER main.\(trigger.name.sqlIdentifier);")
            }
            for index in old.indexes where index.sql != nil && !Self.keeps(index, pair.new) {
                try emit("DROP INDEX main.\(index.name.sqlIdentifier);")
            }
        }
        for pair in diff.pairs where isMadeAnew(pair) {
            guard let old = pair.old else { continue }
            let kind = old.kind == .view ? "VIEW" : "TABLE"
            try emit("DROP \(kind) main.\(old.name.sqlIdentifier);")
        }
    }

    private func writeAdditions(_ emit: (String) throws -> Void) throws {
        for pair in diff.pairs {
            guard let new = pair.new else { continue }
            for index in new.indexes where !(pair.isSameTable && Self.keeps(index, pair.old)) {
                if let sql = index.sql, !isPart(new) { try emit(Self.statement(sql)) }
            }
        }
        for pair in diff.pairs where isMadeAnew(pair) && pair.new?.kind == .view {
            try emit(Self.statement(pair.present.sql))
        }
        for pair in diff.pairs {
            for trigger in pair.new?.triggers ?? []
            where !pair.isSameTable || !keeps(trigger, pair) {
                try emit(Self.statement(trigger.sql))
            }
        }
    }

    private func keeps(_ trigger: TriggerSchema, _ pair: TablePair) -> Bool {
        !touched.contains(pair.name.foldedIdentifier)
            && pair.old?.triggers.contains(trigger) == true
            && pair.new?.triggers.contains(trigger) == true
    }

    private static func keeps(_ index: IndexSchema, _ table: TableSchema?) -> Bool {
        table?.indexes.contains { $0.name == index.name && $0.sql == index.sql } == true
    }

    /// Ends a statement; a comment at its end would swallow the semicolon.
    private static func statement(_ sql: String) -> String {
        sqlite3_complete("\(sql);") != 0 ? "\(sql);" : "\(sql)\n;"
    }

    // MARK: - Rows

    private func writeRows(of pair: TablePair, _ emit: (String) throws -> Void) throws {
        guard let new = pair.new, isPlain(new) else { return }
        if isPart(new) {
            try rows.writeAll(new, emptying: true, emit)
        } else if !pair.isSameTable {
            try rows.writeAll(new, emptying: false, emit)
        } else if touched.contains(pair.name.foldedIdentifier) {
            try rows.writeChanges(pair, emit)
        }
    }

    /// Writes the numbers that AUTOINCREMENT has given out (https://www.sqlite.org/autoinc.html).
    private func writeSequence(_ emit: (String) throws -> Void) throws {
        let isTouched = diff.pairs.contains { pair in
            pair.new?.isAutoincrement == true
                && (!pair.isSameTable || touched.contains(pair.name.foldedIdentifier))
        }
        guard try isTouched || differsInSequence() else { return }
        try emit("DELETE FROM main.sqlite_sequence;")
        for row in try diff.new.sequence() ?? [] {
            let values = try row.map(rows.text.expression).joined(separator: ", ")
            try emit("INSERT INTO main.sqlite_sequence (name, seq) VALUES (\(values));")
        }
    }

    private func writeNumbers(_ emit: (String) throws -> Void) throws {
        for number in try diff.numbers() {
            try emit("PRAGMA main.\(number.name) = \(number.new);")
        }
    }
}

extension ReadableStore {
    /// Reads the rows of the table in which AUTOINCREMENT counts; `nil` if there is none.
    fileprivate func sequence() throws -> [[StoredValue]]? {
        let count = "SELECT count(*) FROM main.sqlite_schema WHERE name = 'sqlite_sequence'"
        guard try number(count) > 0 else { return nil }
        let sql = "SELECT name, seq FROM main.sqlite_sequence ORDER BY name, rowid"
        let statement = try Statement(database, name: name, sql)
        var rows: [[StoredValue]] = []
        while try statement.step() { rows.append([statement.value(0), statement.value(1)]) }
        return rows
    }
}
