internal import GRDB

extension StoreSnapshot {
    /// Checks the store in the snapshot's transaction.
    ///
    /// - Parameters:
    ///   - level: the thoroughness.
    ///   - checkCancellation: a closure that is called during long queries, and throws to end them.
    /// - Returns: SQLite's first finding of damage, and remarks; empty if all is well.
    /// - Throws: `StoreError` if SQLite fails for another reason than damage.
    public func findings(
        _ level: CheckLevel,
        checkCancellation: @escaping () throws -> Void = {}
    ) throws -> [StoreFinding] {
        try connection.findings(level, checkCancellation: checkCancellation)
    }
}

extension Connection {
    /// The greatest number of remarks that are listed one by one.
    private static let remarksLimit = 20

    /// Checks the store; see `StoreSnapshot.findings`.
    func findings(
        _ level: CheckLevel,
        checkCancellation: @escaping () throws -> Void
    ) throws -> [StoreFinding] {
        try interruptible(by: checkCancellation) {
            switch level {
            case .none: return []
            case .quick: return try findings(of: "quick_check")
            case .full:
                let findings = try findings(of: "integrity_check")
                return try findings + foreignKeyFindings().filter { !findings.contains($0) }
            }
        }
    }

    // MARK: - Damage

    /// The outcome of a check.
    private enum Answer {
        /// The findings in SQLite's words; empty if all is well.
        case found([String])
        /// SQLite lacks a function, collation or module of the application, or does not know the syntax of a newer
        /// schema.
        case refused(String)
    }

    /// The number of lines to request if some may be irrelevant.
    private static let linesLimit = 100

    /// Runs a check of everything at once, or else table by table.
    private func findings(of pragma: String) throws -> [StoreFinding] {
        if let reason = unparsedSchema {
            return try structureFindings() + [.notChecked(reason: reason)]
        }
        switch try ask(pragma, "1") {
        case .found(let lines): return lines.prefix(1).map { .damage($0) }
        case .refused: break
        }
        // SQLite refuses the whole check because of one table. At least the structure of all tables is checked.
        let damage = try structureFindings()
        return try damage.isEmpty ? findings(of: pragma, in: tables()) : damage
    }

    /// Checks each table as far as possible without the application.
    private func findings(of pragma: String, in tables: [String]) throws -> [StoreFinding] {
        var remarks: [StoreFinding] = []
        for table in tables {
            switch try ask(pragma, table.sqlLiteral) {
            case .found(let lines):
                if let line = lines.first { return [.damage(line)] }
            case .refused(let reason):
                remarks.append(.notChecked(table: table, reason: reason))
            }
        }
        return Self.limited(remarks)
    }

    /// Looks for damage that shows without the application's functions, in the part of the schema that can be
    /// parsed.
    private func structureFindings() throws -> [StoreFinding] {
        try access { try $0.execute(sql: "PRAGMA ignore_check_constraints = ON") }
        defer { try? access { try $0.execute(sql: "PRAGMA ignore_check_constraints = OFF") } }
        var answers = [try ask("quick_check", "\(Self.linesLimit)")]
        // Pages of unparsable tables look unused, and their lines may crowd out others. So each table is checked as
        // well.
        if case .found([]) = answers[0] { return [] }
        for table in try tables() { answers.append(try ask("quick_check", table.sqlLiteral)) }
        for case .found(let lines) in answers {
            let line = lines.first { unparsedSchema == nil || !$0.hasSuffix("never used") }
            if let line { return [.damage(line)] }
        }
        return []
    }

    /// Runs a check, and returns the lines of its answer.
    ///
    /// - Parameters:
    ///   - pragma: the check.
    ///   - argument: a table, or the greatest number of lines.
    /// - Returns: the answer without false alarms.
    /// - Throws: `StoreError`.
    private func ask(_ pragma: String, _ argument: String) throws -> Answer {
        do {
            return try access { database in
                do {
                    var (lines, falseAlarms) = try database.lines(of: pragma, argument)
                    // They come after all that is wrong with pages, and may crowd out what is wrong with rows.
                    if lines.isEmpty, !falseAlarms.isEmpty, Int(argument) != nil {
                        (lines, _) = try database.lines(of: pragma, "\(Int32.max)", falseAlarms)
                    }
                    return .found(lines)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                    return .refused(error.message ?? error.description)
                }
            }
        } catch StoreError.damaged(_, let reason) {
            return .found([reason])
        }
    }

    private static func limited(_ remarks: [StoreFinding]) -> [StoreFinding] {
        let more = remarks.count - remarksLimit
        return more > 0 ? remarks.prefix(remarksLimit) + [.more(more)] : remarks
    }

    // MARK: - Foreign keys

    /// Looks for rows that refer to missing rows.
    private func foreignKeyFindings() throws -> [StoreFinding] {
        // References to a table that cannot be parsed would look like references to a missing table.
        guard unparsedSchema == nil else { return [] }
        var findings: [StoreFinding] = []
        do {
            for table in try tables() { findings += try foreignKeyFindings(in: table) }
        } catch StoreError.damaged(_, let reason) {
            return [.damage(reason)]
        }
        return Self.limited(findings)
    }

    /// Looks for such rows in one table (https://www.sqlite.org/pragma.html#pragma_foreign_key_check).
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
                    // A row with several references to a table counts once; its violations come in sequence.
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

extension Database {
    /// Runs a check, and separates the lines of its answer, up to the first true one after a false alarm.
    fileprivate func lines(
        of pragma: String,
        _ argument: String,
        _ known: Set<String> = []
    ) throws -> (found: [String], falseAlarms: Set<String>) {
        var (found, falseAlarms): ([String], Set<String>) = ([], known)
        let texts = try String.fetchCursor(self, sql: "PRAGMA \(pragma)(\(argument))")
        while let text = try texts.next() {
            for line in text.split(separator: "\n").map(String.init) where line != "ok" {
                // A line may name the database, "main", which is no finding.
                if line.hasPrefix("*** in database") || falseAlarms.contains(line) { continue }
                if try isFalseAlarm(line) {
                    falseAlarms.insert(line)
                } else {
                    found.append(line)
                    if !falseAlarms.isEmpty { return (found, falseAlarms) }
                }
            }
        }
        return (found, falseAlarms)
    }

    /// Returns whether no row has the NULL that a check has found.
    ///
    /// In a table WITHOUT ROWID whose primary key is not its first columns in their order, SQLite 3.40 looks for it in
    /// another column.
    private func isFalseAlarm(_ line: String) throws -> Bool {
        let start = "NULL value in "
        guard line.hasPrefix(start) else { return false }
        for table in try namesOfTables() where line.hasPrefix("\(start)\(table).") {
            let column = String(line.dropFirst(start.count + table.count + 1))
            guard try columns(in: table).contains(where: { $0.name == column }) else { continue }
            // SQLite does not look for NULL where a column is NOT NULL.
            return try Int.fetchOne(
                self,
                sql: """
                    SELECT 1 FROM main.\(table.sqlIdentifier)
                    WHERE typeof(\(column.sqlIdentifier)) = 'null' LIMIT 1
                    """
            ) == nil
        }
        return false
    }
}
