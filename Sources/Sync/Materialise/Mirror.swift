internal import CSQLite
internal import Changes
internal import Files
internal import GRDB
internal import Stores

/// A store in memory with the tables of another, one row at a time.
///
/// It shows whether a row meets its own constraints, and how SQLite will store its values.
final class Mirror {
    private let queue: DatabaseQueue
    private let handle: OpaquePointer
    private var tables: [ExactString: MirrorTable] = [:]
    private var indexTerms: [ExactString: IndexTerms] = [:]

    /// Creates a mirror of tables.
    ///
    /// - Throws: `StoreError`.
    init(_ schemas: [TableSchema]) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { try distrust($0.sqliteConnection, name: "memory") }
        let queue = try DatabaseQueue(configuration: configuration)
        self.queue = queue
        handle = try queue.inDatabase { database in
            guard let handle = database.sqliteConnection else {
                throw StoreError.unreadable("memory", reason: "its connection is closed")
            }
            for schema in schemas {
                try SchemaText.run(schema.sql, of: .table, on: handle, name: "memory")
            }
            return handle
        }
        for schema in schemas {
            tables[schema.name.exact] = try MirrorTable(schema, handle)
            for index in schema.indexes where index.isUnique {
                indexTerms[index.name.exact] = IndexTerms(index, of: schema)
            }
        }
        guard sqlite3_exec(handle, "BEGIN", nil, nil, nil) == SQLITE_OK else {
            throw StoreError("memory", code: sqlite3_errcode(handle), of: handle)
        }
    }

    deinit {
        // The statements must end before their connection.
        tables = [:]
        try? queue.close()
    }

    /// Tries a row.
    ///
    /// - Parameters:
    ///   - values: the values of the stored columns, in order.
    ///   - table: the row's table.
    /// - Returns: the values as SQLite stores them; `nil` if NOT NULL, a CHECK or a type refuses the row.
    /// - Throws: `StoreError`.
    func take(_ values: [StoredValue], of table: TableSchema) throws -> [StoredValue]? {
        try tables[table.name.exact]?.take(values)
    }

    /// Returns SQLite's words on the last row of a table that it refused.
    func words(of table: TableSchema) -> String? { tables[table.name.exact]?.words }

    /// Returns the value of an expression of a schema; `nil` if only the application can evaluate it.
    func evaluate(_ expression: String) -> StoredValue? {
        let sql = "SELECT (\(expression))"
        guard let statement = try? Statement(handle, name: "memory", sql),
            (try? statement.step()) == true
        else { return nil }
        let value = statement.value(0)
        return value == .null ? nil : value
    }

    /// Finds the unique keys of an accepted row.
    ///
    /// - Parameters:
    ///   - values: the values of the stored columns, as SQLite stores them.
    ///   - table: the row's table.
    /// - Returns: the keys.
    /// - Throws: `StoreError`.
    func uniqueKeys(
        _ values: [StoredValue],
        of table: TableMapping
    ) throws -> [ViewSchema.UniqueKey] {
        let schema = table.schema
        var keys: [ViewSchema.UniqueKey] = []
        for (number, index) in schema.indexes.enumerated() where index.isUnique {
            // The store is the judge of an index whose statement cannot be read.
            guard let terms = indexTerms[index.name.exact],
                let key = try key(of: index, terms, values, schema)
            else { continue }
            let bytes = [UInt8(truncatingIfNeeded: number)] + index.bytes(of: key)
            keys.append(.init(bytes, identifies: table.isIdentity(index)))
        }
        return keys
    }
}

extension Mirror {
    /// Finds the rows of a store that share a unique key with an accepted row.
    ///
    /// - Parameters:
    ///   - values: the values of the stored columns, as SQLite stores them.
    ///   - table: the row's table.
    ///   - finder: the store.
    /// - Returns: their local keys, perhaps including the row's own; `nil` if an index cannot be searched.
    /// - Throws: `StoreError`.
    func rows(
        like values: [StoredValue],
        of table: TableSchema,
        in finder: RowFinder
    ) throws -> [RowKey]? {
        var found: [RowKey] = []
        for index in table.indexes where index.isUnique {
            // Searching the whole table for each row would take longer than computing all rows.
            guard let terms = indexTerms[index.name.exact], !index.isAssumed else { return nil }
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

    /// Finds the unique keys of an accepted row, as bytes that are equal for equal keys at any time.
    ///
    /// - Parameters:
    ///   - values: the values of the stored columns, as SQLite stores them.
    ///   - table: the row's table.
    /// - Returns: the keys with their indexes; the bytes are empty for every key that cannot be computed.
    /// - Throws: `StoreError`.
    func lastingKeys(
        _ values: [StoredValue],
        of table: TableSchema
    ) throws -> [(index: String, key: [UInt8])] {
        var keys: [(index: String, key: [UInt8])] = []
        for index in table.indexes where index.isUnique {
            var bytes: [UInt8] = []
            if let terms = indexTerms[index.name.exact], index.keys.allSatisfy(\.isFoldable) {
                guard let key = try key(of: index, terms, values, table) else { continue }
                bytes = index.bytes(of: key)
            }
            keys.append((index.name, bytes))
        }
        return keys
    }

    /// Returns a row's key in a unique index, as SQLite has it; `nil` if the row has none in it.
    private func key(
        of index: IndexSchema,
        _ terms: IndexTerms,
        _ values: [StoredValue],
        _ table: TableSchema
    ) throws -> [StoredValue]? {
        if table.isPlain(index) { return table.key(of: index, in: values) }
        let key = try tables[table.name.exact]?.evaluate(terms, values)
        return key?.contains(.null) == false ? key : nil
    }
}

extension IndexSchema.Key {
    /// Whether `StoredValue.folded` supports its collation.
    fileprivate var isFoldable: Bool {
        ["binary", "nocase", "rtrim"].contains(collation.foldedIdentifier)
    }
}

extension IndexSchema {
    /// Returns a key as bytes that are equal if SQLite treats the keys as equal.
    fileprivate func bytes(of key: [StoredValue]) -> [UInt8] {
        // 1 is 1.0 in an index, whatever the column's affinity.
        let parts = zip(key, keys).map { KeyComparison.folded($0.folded($1.collation), .blob) }
        guard case .primaryKey(let bytes) = RowKey(primaryKey: parts) else { return [] }
        return bytes
    }
}

extension TableSchema {
    /// Returns whether an index contains all rows, with keys made of stored columns only.
    func isPlain(_ index: IndexSchema) -> Bool {
        !index.isPartial
            && index.keys.allSatisfy { key in key.column.map { !columns[$0].isGenerated } ?? false }
    }

    /// Returns a row's key in a plain index; `nil` if it contains NULL.
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
    /// Returns the value that represents all values that a collation treats as equal
    /// (https://www.sqlite.org/datatype3.html, 7).
    func folded(_ collation: String) -> StoredValue {
        guard case .text(let bytes) = self else { return self }
        switch collation.foldedIdentifier {
        case "nocase":
            // It compares no byte after a NUL, only the lengths.
            let length = bytes.array.firstIndex(of: 0) ?? bytes.count
            let small = bytes.array.prefix(length).map {
                (0x41...0x5A).contains($0) ? $0 | 0x20 : $0
            }
            return .text(StoredBytes(small + Array(repeating: 0, count: bytes.count - length)))
        case "rtrim":
            let trimmed = bytes.array.reversed().drop { $0 == 0x20 }
            return .text(StoredBytes(Array(trimmed.reversed())))
        default: return self
        }
    }
}
