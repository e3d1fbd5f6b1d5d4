internal import Files
internal import Foundation
internal import GRDB

extension StoreSnapshot {
    /// Counts rows and collects references, in the snapshot's transaction.
    ///
    /// - Parameters:
    ///   - hasSupportDirectory: whether there is a directory for external data; only then, and in a
    ///     store of Core Data, are rows searched for references.
    ///   - checkCancellation: asked in the middle of long queries; what it throws ends them.
    /// - Returns: what is known; a table whose rows cannot be counted has no count.
    /// - Throws: `StoreError` if not even the list of tables can be read.
    public func report(
        hasSupportDirectory: Bool,
        checkCancellation: @escaping () throws -> Void = {}
    ) throws -> StoreReport {
        try connection.interruptible(by: checkCancellation) { try report(hasSupportDirectory) }
    }

    /// Returns the names that rows give to files of external data, in the snapshot's transaction.
    ///
    /// - Parameter checkCancellation: asked in the middle of long queries; what it throws ends them.
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
        let tables = try connection.tables()
        let names = Set(tables)
        let kind: StoreFacts.Kind =
            names.isSuperset(of: ["Z_METADATA", "Z_PRIMARYKEY"]) ? .coreData : .sqlite
        let counted = try tables.map { name in
            StoreFacts.Table(name: name, rows: try count(name, &damage))
        }
        var references: Set<String> = []
        let canRefer = kind == .coreData || hasSupportDirectory
        var isSearched = canRefer
        for name in canRefer ? tables : [] {
            let isRead = try collectReferences(in: name, &references, &damage)
            isSearched = isSearched && isRead
        }
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
                externalReferences: isSearched ? Int64(references.count) : nil
            )
        }
        return StoreReport(facts: facts, damage: damage, externalReferences: references)
    }

    private func journalMode() throws -> String {
        // On an immutable connection the pragma does not tell; the file's header does.
        var header = [UInt8](repeating: 0, count: DatabaseHeader.length)
        guard (try? header.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }) != nil else {
            return "delete"
        }
        if DatabaseHeader(header)?.saysWAL == true { return "wal" }
        let mode = try connection.access { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        return mode == "wal" ? "wal" : "delete"
    }

    private func count(_ table: String, _ damage: inout [String]) throws -> Int64? {
        try tolerating(&damage) { database in
            try Int64.fetchOne(database, sql: "SELECT count(*) FROM \(table.sqlIdentifier)")
        }
    }

    /// Adds what the rows of a table refer to.
    ///
    /// - Returns: whether they could be read.
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
            // SQLite has a limit on how deep an expression may be (limits.html, 1,000).
            for start in stride(from: 0, to: columns.count, by: 500) {
                let some = columns[start..<min(start + 500, columns.count)]
                try names.formUnion(Self.references(database, table, in: some))
            }
            return names
        }
        references.formUnion(found ?? [])
        return found != nil
    }

    /// Looks into several columns at once, since each look at a table reads all of it.
    private static func references(
        _ database: Database,
        _ table: String,
        in columns: ArraySlice<String>
    ) throws -> Set<String> {
        // The length stands in a row's header: SQLite reads no content to tell it.
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

    /// Runs a query, and notes damage instead of throwing it.
    ///
    /// A collation or module that is not here is no damage; the result is then just not known.
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
