internal import GRDB

extension StoreSnapshot {
    /// Checks the store in the snapshot's transaction.
    ///
    /// - Parameters:
    ///   - level: how thoroughly.
    ///   - checkCancellation: asked in the middle of long queries; what it throws ends them.
    /// - Returns: SQLite's first finding of damage, and remarks; none if all is well.
    /// - Throws: `StoreError` if SQLite cannot go on for another reason than damage.
    public func findings(
        _ level: CheckLevel,
        checkCancellation: @escaping () throws -> Void = {}
    ) throws -> [StoreFinding] {
        try connection.findings(level, checkCancellation: checkCancellation)
    }
}

extension Connection {
    /// The most remarks that are told one by one.
    private static let remarksLimit = 20

    /// See `StoreSnapshot.findings`.
    func findings(
        _ level: CheckLevel,
        checkCancellation: @escaping () throws -> Void
    ) throws -> [StoreFinding] {
        try interruptible(by: checkCancellation) {
            switch level {
            case .none: return []
            case .quick: return try damage(of: "quick_check(1)", otherwise: damageInTables)
            case .full:
                let damage = try damage(of: "integrity_check(1)", otherwise: damageInTables)
                return try damage + foreignKeyFindings().filter { !damage.contains($0) }
            }
        }
    }

    // MARK: - Damage

    /// Runs a check; asks `other` if the application's own collation or module is not here, which is
    /// no damage.
    private func damage(
        of pragma: String,
        otherwise other: () throws -> [StoreFinding] = { [] }
    ) throws -> [StoreFinding] {
        do {
            return try access { database in
                let text = try String.fetchOne(database, sql: "PRAGMA \(pragma)") ?? "ok"
                // The first line may name the database, "main", which says nothing here.
                let reason = text.split(separator: "\n").last.map(String.init) ?? ""
                return text == "ok" ? [] : [.damage(reason)]
            }
        } catch StoreError.damaged(_, let reason) {
            return [.damage(reason)]
        } catch StoreError.unreadable(_, let reason) where reason.hasPrefix("no such") {
            return try other()
        }
    }

    /// Checks the tables that need nothing of the application.
    private func damageInTables() throws -> [StoreFinding] {
        for table in try tables() {
            let found = try damage(of: "quick_check(\(table.sqlLiteral))")
            if !found.isEmpty { return found }
        }
        return []
    }

    // MARK: - Foreign keys

    /// Looks for rows that refer to rows that are not there.
    private func foreignKeyFindings() throws -> [StoreFinding] {
        var findings: [StoreFinding] = []
        do {
            for table in try tables() { findings += try foreignKeyFindings(in: table) }
        } catch StoreError.damaged(_, let reason) {
            return [.damage(reason)]
        }
        let more = findings.count - Self.remarksLimit
        return more > 0 ? findings.prefix(Self.remarksLimit) + [.more(more)] : findings
    }

    /// Looks in one table (https://www.sqlite.org/pragma.html#pragma_foreign_key_check).
    private func foreignKeyFindings(in table: String) throws -> [StoreFinding] {
        do {
            return try access { database in
                let pragma = "PRAGMA foreign_key_check(\(table.sqlLiteral))"
                let violations = try Row.fetchCursor(database, sql: pragma)
                var parents: [String: (rows: Int64, last: Int64?)] = [:]
                while let violation = try violations.next() {
                    let row = violation[1] as Int64?
                    let parent = violation[2] as String? ?? "?"
                    let (rows, last) = parents[parent] ?? (0, nil)
                    // A row with several references to a table counts once; they come one after another.
                    parents[parent] = (row == nil || row != last ? rows + 1 : rows, row)
                }
                return parents.sorted { $0.key < $1.key }.map {
                    .missingParents(table: table, parent: $0.key, rows: $0.value.rows)
                }
            }
        } catch StoreError.unreadable(_, let reason) where reason.hasPrefix("no such") {
            return []
        } catch StoreError.unreadable(_, let reason) where reason.hasPrefix("foreign key mismatch")
        {
            return [.uncheckedKeys(table: table, reason: reason)]
        }
    }
}
