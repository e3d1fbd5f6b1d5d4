internal import Changes
internal import Stores

/// Rows of a view, tried in a mirror of the store: with the keys that their parents have here.
///
/// A view asks by closures that cannot throw: the first error is kept, and `check` throws it.
final class Trial {
    private let mirror: Mirror
    private let keys: LocalKeys
    private let tables: [TableName: TableMapping]
    private let access: SidecarAccess
    private let blobs: BlobCache
    private var error: (any Error)?
    private(set) var missing: Set<BlobReference> = []
    private var lacking: Set<ViewKey> = []

    init(
        _ mirror: Mirror,
        _ keys: LocalKeys,
        _ tables: [TableName: TableMapping],
        _ access: SidecarAccess,
        _ blobs: BlobCache
    ) {
        self.mirror = mirror
        self.keys = keys
        self.tables = tables
        self.access = access
        self.blobs = blobs
    }

    /// Throws the first error.
    func check() throws {
        if let error { throw error }
    }

    /// Whether a row was refused since its content is not here.
    func lacksBlob(_ key: ViewKey) -> Bool { lacking.contains(key) }

    func refuses(_ row: ViewRow, of table: TableName) -> Bool {
        guard let table = tables[table] else { return true }
        if lacksContent(row, of: table) || lacksEntity(row, of: table) { return true }
        return trying(true) {
            try mirror.take(values(row, of: table).map { $0 ?? .null }, of: table.schema) == nil
        }
    }

    func uniqueKeys(_ row: ViewRow, of table: TableName) -> [[UInt8]] {
        guard let table = tables[table] else { return [] }
        return trying([]) {
            try mirror.uniqueKeys(taken(values(row, of: table), of: table), of: table.schema)
        }
    }

    /// Returns a row's values as SQLite will have them.
    func taken(_ values: [StoredValue?], of table: TableMapping) -> [StoredValue] {
        let values = values.map { $0 ?? .null }
        return trying(values) { try mirror.take(values, of: table.schema) ?? values }
    }

    /// Returns the values of the stored columns; `nil` for those that do not travel and have no default,
    /// and for content that is not here.
    func values(_ row: ViewRow, of table: TableMapping) -> [StoredValue?] {
        var values: [StoredValue?] = table.schema.storedColumns.map { place in
            guard place == table.schema.rowIDAlias else {
                // What does not travel is as the schema makes it, or as it is.
                if case .constant(let value) = table.schema.columns[place].defaultValue {
                    return table.columns.contains { $0.place == place } ? nil : value
                }
                return nil
            }
            return keys.key(of: row.id).map { .integer($0) }
        }
        for (column, value) in zip(table.columns, row.values) {
            let stored = stored(value)
            values[column.index] = column.entities.map { stored.flatMap($0.number) } ?? stored
        }
        return values
    }

    /// Whether a row is of an entity that this store's model has not, or refers to one.
    private func lacksEntity(_ row: ViewRow, of table: TableMapping) -> Bool {
        zip(table.columns, row.values).contains { column, value in
            guard let entities = column.entities else { return false }
            return value.stored.flatMap(entities.number) == nil
        }
    }

    private func stored(_ value: Value) -> StoredValue? {
        switch value {
        case .row(let id): keys.key(of: id).map { .integer($0) } ?? .null
        case .longText(let content), .longBlob(let content):
            trying(nil) {
                guard let bytes = try blobs.content(content) else { return nil }
                if case .longText = value { return .text(StoredBytes(bytes)) }
                return .blob(StoredBytes(bytes))
            }
        case .file: nil
        default: value.stored
        }
    }

    /// Notes the content that a row needs and that is not here; one that is shown can wait as it is.
    private func lacksContent(_ row: ViewRow, of table: TableMapping) -> Bool {
        let references = row.values.compactMap(\.reference)
        if references.isEmpty { return false }
        return trying(true) {
            let shown = try access.shown(row.id)
            let parts = try shown?.image.parts() ?? []
            let lacking = try references.filter { reference in
                let isShown = parts.contains { part in
                    if case .hash(_, reference.digest) = part.part { true } else { false }
                }
                return try !isShown && !blobs.has(reference)
            }
            missing.formUnion(lacking)
            guard !lacking.isEmpty, shown == nil else { return false }
            self.lacking.insert(ViewKey(table.name, row.id))
            return true
        }
    }

    private func trying<Result>(_ otherwise: Result, _ body: () throws -> Result) -> Result {
        do {
            return try body()
        } catch {
            if self.error == nil { self.error = error }
            return otherwise
        }
    }
}
