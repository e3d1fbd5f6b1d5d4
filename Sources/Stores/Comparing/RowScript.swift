internal import Files

/// The statements that change the rows of tables from one state to another.
struct RowScript {
    let text: SQLText
    private let diff: StoreDiff

    init(_ diff: StoreDiff) throws {
        self.diff = diff
        text = try SQLText()
    }

    /// Returns whether the rows of a table of both states differ.
    func differs(_ pair: TablePair) throws -> Bool {
        guard let old = pair.old, let new = pair.new, new.kind == .table || new.kind == .shadow
        else { return false }
        guard canCompare(pair) else { return try differInOrder(old, new) }
        var differs = false
        try diff.forEachDifference(old, new, by: TableIdentity(inStore: new)) { _, _ in
            differs = true
            return false
        }
        return differs
    }

    /// Returns whether rows can be changed one by one; if not, all rows are written again.
    private func canCompare(_ pair: TablePair) -> Bool {
        switch TableIdentity(inStore: pair.present) {
        case .rowID: true
        case .primaryKey: diff.isUTF8
        case .content: false
        }
    }

    /// Returns whether the rows of two tables differ, in the order in which SQLite returns them.
    private func differInOrder(_ old: TableSchema, _ new: TableSchema) throws -> Bool {
        var before = try diff.old.rows(of: old, order: .none)
        var after = try diff.new.rows(of: new, order: .none)
        while true {
            let isMore = try before.next()
            guard try after.next() == isMore else { return true }
            guard isMore else { return false }
            for index in after.columns.indices
            where try !before.hasSameValue(index, as: after, index) {
                return true
            }
        }
    }

    // MARK: - All

    /// Writes all rows of a table of the new state.
    ///
    /// - Throws: `StoreError`; any error of `emit`.
    func writeAll(
        _ table: TableSchema,
        emptying isEmptied: Bool,
        _ emit: (String) throws -> Void
    ) throws {
        if isEmptied { try emit("DELETE FROM main.\(table.name.sqlIdentifier);") }
        let isByRowID = TableIdentity(inStore: table) == .rowID
        var cursor = try diff.new.rows(of: table, order: isByRowID ? .local : .none)
        while try cursor.next() { try emit(insertion(of: cursor)) }
    }

    // MARK: - Changes

    /// Writes the changes of a table that has the same statement in both states.
    ///
    /// - Throws: `StoreError`; any error of `emit`.
    func writeChanges(_ pair: TablePair, _ emit: (String) throws -> Void) throws {
        guard let old = pair.old, let new = pair.new else { return }
        guard canCompare(pair) else { return try writeAll(new, emptying: true, emit) }
        let identity = TableIdentity(inStore: new)
        guard old.hasOtherKeys || new.hasOtherKeys else {
            return try diff.forEachDifference(old, new, by: identity) { change, diff in
                switch change {
                case .removed: try emit(removal(of: diff.old))
                case .added: try emit(insertion(of: diff.new))
                case .changed(let places): try emit(update(diff, places))
                }
                return true
            }
        }
        // Single updates could give two rows the same key for a while. So changed rows are deleted, then inserted
        // again.
        try diff.forEachDifference(old, new, by: identity) { change, diff in
            if change != .added { try emit(removal(of: diff.old)) }
            return true
        }
        try diff.forEachDifference(old, new, by: identity) { change, diff in
            if change != .removed { try emit(insertion(of: diff.new)) }
            return true
        }
    }

    private func insertion(of row: borrowing TableCursor) throws -> String {
        let table = row.table
        var names = row.columns.map { table.columns[$0].name.sqlIdentifier }
        var values: [String] = []
        if !table.isWithoutRowID, table.rowIDAlias == nil, let name = table.rowIDName {
            names.insert(name, at: 0)
            values.append("\(StoredValue.integer(row.rowID).sqlLiteral)")
        }
        for index in row.columns.indices { values.append(try text.expression(row.value(index))) }
        let name = table.name.sqlIdentifier
        return
            "INSERT INTO main.\(name) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")));"
    }

    private func removal(of row: borrowing TableCursor) throws -> String {
        "DELETE FROM main.\(row.table.name.sqlIdentifier) WHERE \(try condition(row));"
    }

    private func update(_ diff: borrowing RowDiff, _ places: [Int]) throws -> String {
        let table = diff.new.table
        var changes: [String] = []
        for place in places {
            let index = diff.pairs[place].new
            let name = table.columns[diff.new.columns[index]].name.sqlIdentifier
            changes.append("\(name) = \(try text.expression(diff.new.value(index)))")
        }
        let set = changes.joined(separator: ", ")
        return
            "UPDATE main.\(table.name.sqlIdentifier) SET \(set) WHERE \(try condition(diff.old));"
    }

    private func condition(_ row: borrowing TableCursor) throws -> String {
        let table = row.table
        guard table.isWithoutRowID else {
            return "\(table.rowIDName ?? "rowid") = \(StoredValue.integer(row.rowID).sqlLiteral)"
        }
        var terms: [String] = []
        for place in table.primaryKey {
            guard let index = row.columns.firstIndex(of: place) else { continue }
            let name = table.columns[place].name.sqlIdentifier
            terms.append("\(name) = \(try text.expression(row.value(index)))")
        }
        return terms.joined(separator: " AND ")
    }
}

extension TableSchema {
    /// Whether a UNIQUE key may refuse rows, other than the key by which they are compared.
    fileprivate var hasOtherKeys: Bool {
        indexes.contains { index in
            guard index.isUnique else { return false }
            guard isWithoutRowID, index.origin == .primaryKey else { return true }
            return index.keys.contains { $0.collation.foldedIdentifier != "binary" }
        }
    }
}
