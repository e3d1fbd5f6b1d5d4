internal import Files
internal import Foundation
internal import GRDB

extension StoreSnapshot {
    /// Counts rows and collects references, in the snapshot's transaction.
    ///
    /// - Parameters:
    ///   - hasSupportDirectory: whether there is a directory for external data: rows may then refer to its files.
    ///   - checkCancellation: a closure that is called during long queries, and throws to end them.
    /// - Returns: the report; a table whose rows cannot be counted has no count.
    /// - Throws: `StoreError` if not even the list of tables can be read.
    public func report(
        hasSupportDirectory: Bool,
        checkCancellation: @escaping () throws -> Void = {}
    ) throws -> StoreReport {
        try connection.interruptible(by: checkCancellation) { try report(hasSupportDirectory) }
    }

    /// Returns the names of the files of external data that rows refer to, in the snapshot's transaction.
    ///
    /// - Parameter checkCancellation: a closure that is called during long queries, and throws to end them.
    /// - Returns: the names.
    /// - Throws: `StoreError`, also if the rows of a table cannot be read.
    public func externalReferences(
        checkCancellation: @escaping () throws -> Void = {}
    ) throws -> Set<String> {
        try reading {
            try connection.interruptible(by: checkCancellation) { try allExternalReferences() }
        }
    }

    private func allExternalReferences() throws -> Set<String> {
        var references: Set<String> = []
        var damage: [String] = []
        for name in try connection.tables() {
            let isRead = try collectReferences(in: name, &references, &damage)
            guard isRead || !damage.isEmpty else {
                let reason = "the rows of '\(name)' cannot be read"
                throw StoreError.unreadable(path.description, reason: reason)
            }
        }
        if let reason = damage.first { throw StoreError.damaged(path.description, reason: reason) }
        return references
    }

    private func report(_ hasSupportDirectory: Bool) throws -> StoreReport {
        var damage: [String] = []
        do {
            try requireWholePages()
        } catch StoreError.damaged(_, let reason) {
            damage.append(reason)
        }
        let tables = try connection.tables()
        let names = Set(tables)
        let kind: StoreFacts.Kind =
            names.isSuperset(of: ["Z_METADATA", "Z_PRIMARYKEY"]) ? .coreData : .sqlite
        let counted = try tables.map { name in
            StoreFacts.Table(name: name, rows: try count(name, &damage))
        }
        let isUncounted = damage.isEmpty && counted.contains { $0.rows == nil }
        var references: Set<String> = []
        // All tables are searched even without a directory for external data: it may have been deleted with its
        // files.
        var isSearched = true
        for name in tables {
            let isRead = try collectReferences(in: name, &references, &damage)
            isSearched = isSearched && isRead
        }
        let canRefer = kind == .coreData || hasSupportDirectory || !references.isEmpty
        let journalMode = try journalMode()
        let facts = try connection.access { database in
            StoreFacts(
                path: path.description,
                pageSize: pageSize,
                pageCount: pageCount,
                journalMode: journalMode,
                userVersion: try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0,
                applicationID: try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0,
                kind: kind,
                tables: counted,
                externalReferences: isSearched && canRefer ? Int64(references.count) : nil
            )
        }
        var report = StoreReport(facts: facts, damage: damage, externalReferences: references)
        if isUncounted, let reason = connection.unparsedSchema {
            report.remarks = [.notChecked(reason: reason)]
        }
        return report
    }

    private func journalMode() throws -> String {
        // On an immutable connection the pragma does not report WAL; the file's header does.
        var header = [UInt8](repeating: 0, count: DatabaseHeader.length)
        guard (try? header.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }) != nil else {
            return "delete"
        }
        if DatabaseHeader(header)?.saysWAL == true { return "wal" }
        let mode = try connection.access { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        return mode == "wal" ? "wal" : "delete"
    }

    private func count(_ table: String, _ damage: inout [String]) throws -> Int64? {
        let sql = "SELECT count(*) FROM \(table.sqlIdentifier)"
        func count(_ sql: String) throws -> Int64? {
            try tolerating(&damage) { try Int64.fetchOne($0, sql: sql) }
        }
        // SQLite counts by the smallest index, whose collation may be the application's own. The second query avoids
        // that.
        let rows = try connection.unparsedSchema == nil ? count(sql) : nil
        return try rows ?? (damage.isEmpty ? count("\(sql) NOT INDEXED") : nil)
    }

    /// Adds the references of a table's rows.
    ///
    /// - Returns: whether the rows could be read.
    private func collectReferences(
        in table: String,
        _ references: inout Set<String>,
        _ damage: inout [String]
    ) throws -> Bool {
        let found = try tolerating(&damage) { database -> Set<String> in
            let pragma = "PRAGMA table_info(\(table.sqlIdentifier))"
            let columns = try Row.fetchAll(database, sql: pragma)
                .filter { ($0["type"] as String? ?? "").uppercased().contains("BLOB") }
                .compactMap { ($0["name"] as String?)?.sqlIdentifier }
            var names: Set<String> = []
            // SQLite limits the depth of an expression to 1,000 (limits.html).
            for start in stride(from: 0, to: columns.count, by: 500) {
                let some = columns[start..<min(start + 500, columns.count)]
                try names.formUnion(Self.references(database, table, in: some))
            }
            return names
        }
        references.formUnion(found ?? [])
        return found != nil
    }

    /// Searches several columns in one query, since each query reads the whole table.
    private static func references(
        _ database: Database,
        _ table: String,
        in columns: ArraySlice<String>
    ) throws -> Set<String> {
        // A row's header contains the length, so SQLite reads no content for it.
        let lengths = columns.map { "length(\($0)) = \(ExternalReference.length)" }
        let values = zip(columns, lengths).map { "CASE WHEN \($1) THEN \($0) END" }
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT \(values.joined(separator: ", ")) FROM \(table.sqlIdentifier)
                WHERE \(lengths.joined(separator: " OR "))
                """
        )
        var names: Set<String> = []
        while let row = try rows.next() {
            for case .blob(let blob) in row.databaseValues.map(\.storage) {
                if let reference = ExternalReference(blob) { names.insert(reference.name) }
            }
        }
        return names
    }

    /// Runs a query, and records damage instead of throwing it.
    ///
    /// A missing collation or module is no damage; the result is then `nil`.
    private func tolerating<Result>(
        _ damage: inout [String],
        _ query: (Database) throws -> Result?
    ) throws -> Result? {
        do {
            return try connection.access(query)
        } catch StoreError.damaged(_, let reason) {
            if !damage.contains(reason) { damage.append(reason) }
            return nil
        } catch StoreError.unreadable {
            return nil
        }
    }
}
