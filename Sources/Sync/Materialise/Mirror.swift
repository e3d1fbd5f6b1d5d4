internal import CSQLite
internal import GRDB
internal import Stores

/// A store in memory with the tables of another, one row at a time: it tells whether a row's own
/// constraints take it, and how SQLite will have its values.
final class Mirror {
    private let queue: DatabaseQueue
    private let handle: OpaquePointer
    private var tables: [String: MirrorTable] = [:]
    private var classes: [String: KeyClasses] = [:]
    private var indexTerms: [String: IndexTerms] = [:]

    /// Makes a mirror of tables.
    ///
    /// - Throws: `StoreError`.
    init(_ schemas: [TableSchema]) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(configuration: configuration)
        self.queue = queue
        handle = try queue.inDatabase { database in
            for schema in schemas { try database.execute(sql: schema.sql) }
            guard let handle = database.sqliteConnection else {
                throw StoreError.unreadable("memory", reason: "its connection is closed")
            }
            return handle
        }
        for schema in schemas {
            tables[schema.name] = try MirrorTable(schema, handle)
            for index in schema.indexes where index.isUnique && !index.isPlain {
                classes[index.name] = try KeyClasses(schema, index)
            }
            for index in schema.indexes where index.isUnique {
                indexTerms[index.name] = IndexTerms(index, of: schema)
            }
        }
        guard sqlite3_exec(handle, "BEGIN", nil, nil, nil) == SQLITE_OK else {
            throw StoreError("memory", code: sqlite3_errcode(handle), of: handle)
        }
    }

    deinit {
        // Statements before their connection.
        tables = [:]
        classes = [:]
        try? queue.close()
    }

    /// Tries a row.
    ///
    /// - Parameters:
    ///   - values: the stored columns in their order.
    ///   - table: its table.
    /// - Returns: the stored columns as SQLite has them; `nil` if NOT NULL, a CHECK or a type refuses it.
    /// - Throws: `StoreError`.
    func take(_ values: [StoredValue], of table: TableSchema) throws -> [StoredValue]? {
        try tables[table.name]?.take(values)
    }

    /// Finds the unique keys of a row that was taken.
    ///
    /// - Parameters:
    ///   - values: the stored columns as SQLite has them.
    ///   - table: its table.
    /// - Returns: its keys, each with a mark of its index; see `ViewSchema`.
    /// - Throws: `StoreError`.
    func uniqueKeys(_ values: [StoredValue], of table: TableSchema) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        for (number, index) in table.indexes.enumerated() where index.isUnique {
            if let classes = classes[index.name] {
                keys.append([UInt8(truncatingIfNeeded: number), 1] + (try classes.key(of: values)))
            } else if let key = table.key(of: index, in: values) {
                keys.append([UInt8(truncatingIfNeeded: number), 0] + index.bytes(of: key))
            }
        }
        return keys
    }
}

extension Mirror {
    /// Finds the rows of a store that have a unique key of a row that was taken.
    ///
    /// - Parameters:
    ///   - values: the stored columns as SQLite has them.
    ///   - table: its table.
    ///   - finder: the store.
    /// - Returns: their local keys, perhaps the row's own; `nil` if an index cannot be asked.
    /// - Throws: `StoreError`.
    func rows(
        like values: [StoredValue],
        of table: TableSchema,
        in finder: RowFinder
    ) throws -> [RowKey]? {
        var found: [RowKey] = []
        for index in table.indexes where index.isUnique {
            // A search through the table for each row would take longer than a look at all rows.
            guard let terms = indexTerms[index.name], !index.isAssumed else { return nil }
            guard let key = try key(of: index, terms, values, table) else { continue }
            found += try finder.keys(
                of: table,
                where: terms.terms,
                are: key,
                and: terms.condition
            )
        }
        return found
    }

    /// Finds the unique keys of a row that was taken, as bytes that are the same for equal keys at any time.
    ///
    /// - Parameters:
    ///   - values: the stored columns as SQLite has them.
    ///   - table: its table.
    /// - Returns: the keys with their indexes; no bytes of a key that cannot be told, for all such keys.
    /// - Throws: `StoreError`.
    func lastingKeys(
        _ values: [StoredValue],
        of table: TableSchema
    ) throws -> [(index: String, key: [UInt8])] {
        var keys: [(index: String, key: [UInt8])] = []
        for index in table.indexes where index.isUnique {
            var bytes: [UInt8] = []
            if let terms = indexTerms[index.name], index.keys.allSatisfy(\.isFoldable) {
                guard let key = try key(of: index, terms, values, table) else { continue }
                bytes = index.bytes(of: key)
            }
            keys.append((index.name, bytes))
        }
        return keys
    }

    /// Returns a row's key in a unique index, as SQLite has it; `nil` if it has none there.
    private func key(
        of index: IndexSchema,
        _ terms: IndexTerms,
        _ values: [StoredValue],
        _ table: TableSchema
    ) throws -> [StoredValue]? {
        if index.isPlain { return table.key(of: index, in: values) }
        let key = try tables[table.name]?.evaluate(terms, values)
        return key?.contains(.null) == false ? key : nil
    }
}

extension IndexSchema.Key {
    /// Whether `StoredValue.folded` knows its collation.
    fileprivate var isFoldable: Bool {
        ["binary", "nocase", "rtrim"].contains(collation.foldedIdentifier)
    }
}

extension IndexSchema {
    /// Whether the table's own columns make its key, for all rows.
    var isPlain: Bool { !isPartial && keys.allSatisfy { $0.column != nil } }

    /// Returns a key as bytes that are equal if SQLite takes keys for equal.
    fileprivate func bytes(of key: [StoredValue]) -> [UInt8] {
        let parts = zip(key, keys).map { $0.folded($1.collation) }
        guard case .primaryKey(let bytes) = RowKey(primaryKey: parts) else { return [] }
        return bytes
    }
}

extension TableSchema {
    /// Returns a row's key in a plain index; `nil` if a NULL is in it.
    fileprivate func key(of index: IndexSchema, in values: [StoredValue]) -> [StoredValue]? {
        var parts: [StoredValue] = []
        let stored = storedColumns
        for key in index.keys {
            guard let column = key.column, let place = stored.firstIndex(of: column),
                values[place] != .null
            else { return nil }
            parts.append(values[place])
        }
        return parts
    }
}

extension StoredValue {
    /// The value that stands for all that a collation takes for equal
    /// (https://www.sqlite.org/datatype3.html, 7).
    func folded(_ collation: String) -> StoredValue {
        guard case .text(let bytes) = self else { return self }
        switch collation.foldedIdentifier {
        case "nocase":
            return .text(
                StoredBytes(bytes.array.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
            )
        case "rtrim":
            let trimmed = bytes.array.reversed().drop { $0 == 0x20 }
            return .text(StoredBytes(Array(trimmed.reversed())))
        default: return self
        }
    }
}
