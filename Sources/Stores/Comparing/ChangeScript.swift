internal import Files

/// A script of SQL statements that turns one state of a store into another.
///
/// The statements run on the old state. They create the new state's tables, indexes, triggers and views, and rows
/// with the same rowids, classes and bytes. Tables whose statements differ are dropped and created again. SQLite's
/// own tables do not count, except for the numbers that AUTOINCREMENT has given out.
public struct ChangeScript {
    private let diff: StoreDiff
    private let rows: RowScript
    /// The tables with the same statement in both states whose rows differ.
    private let touched: Set<ExactString>

    /// Finds the tables that differ.
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

    /// Calls `emit` for each statement, which ends with a semicolon and has no line end.
    ///
    /// - Throws: `StoreError`; any error of `emit`.
    public func write(_ emit: (String) throws -> Void) throws {
        try diff.reading { try writeOnce(emit) }
    }

    private func writeOnce(_ emit: (String) throws -> Void) throws {
        guard try !isEmpty else { return }
        try emit("PRAGMA foreign_keys = OFF;")
        try emit("PRAGMA ignore_check_constraints = ON;")
        try emit("BEGIN;")
        try writeRemovals(emit)
        for pair in diff.pairs where isRemade(pair) && pair.new?.kind == .virtual {
            try emit(SchemaText.inScript(pair.present.sql))
        }
        for pair in diff.pairs where isRemade(pair) && isPlain(pair.new) {
            try emit(SchemaText.inScript(pair.present.sql))
        }
        for pair in diff.pairs { try writeRows(of: pair, emit) }
        try writeSequence(emit)
        try writeAdditions(emit)
        try writeNumbers(emit)
        try emit("COMMIT;")
        try emit("PRAGMA ignore_check_constraints = OFF;")
    }

    /// Whether the two states are the same.
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

    /// Returns whether a table is dropped, created or both.
    private func isRemade(_ pair: TablePair) -> Bool {
        !pair.isSameTable && !isPart(pair.new) && !isPart(pair.old)
    }

    private func isPlain(_ table: TableSchema?) -> Bool {
        table?.kind == .table || table?.kind == .shadow
    }

    /// Returns whether the table is a shadow table of a virtual table that is dropped or created.
    private func isPart(_ table: TableSchema?) -> Bool {
        guard let table, table.kind == .shadow else { return false }
        let name = table.name.foldedIdentifier
        return diff.pairs.contains { pair in
            (pair.old?.kind == .virtual || pair.new?.kind == .virtual) && !pair.isSameTable
                && name.hasPrefix("\(pair.name)_".foldedIdentifier)
        }
    }

    /// Writes the removals, which come first: triggers would change more rows, and indexes would refuse intermediate
    /// states.
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
        for pair in diff.pairs where isRemade(pair) {
            guard let old = pair.old else { continue }
            let kind = old.kind == .view ? "VIEW" : "TABLE"
            try emit("DROP \(kind) main.\(old.name.sqlIdentifier);")
        }
    }

    private func writeAdditions(_ emit: (String) throws -> Void) throws {
        for pair in diff.pairs {
            guard let new = pair.new else { continue }
            for index in new.indexes where !(pair.isSameTable && Self.keeps(index, pair.old)) {
                if let sql = index.sql, !isPart(new) { try emit(SchemaText.inScript(sql)) }
            }
        }
        for pair in diff.pairs where isRemade(pair) && pair.new?.kind == .view {
            try emit(SchemaText.inScript(pair.present.sql))
        }
        for pair in diff.pairs {
            for trigger in pair.new?.triggers ?? []
            where !pair.isSameTable || !keeps(trigger, pair) {
                try emit(SchemaText.inScript(trigger.sql))
            }
        }
    }

    private func keeps(_ trigger: TriggerSchema, _ pair: TablePair) -> Bool {
        !touched.contains(pair.name.foldedIdentifier)
            && pair.old?.triggers.contains(trigger) == true
            && pair.new?.triggers.contains(trigger) == true
    }

    private static func keeps(_ index: IndexSchema, _ table: TableSchema?) -> Bool {
        table?.indexes.contains {
            $0.name.exact == index.name.exact && $0.sql?.exact == index.sql?.exact
        } == true
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
