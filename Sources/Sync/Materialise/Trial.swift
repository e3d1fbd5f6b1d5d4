internal import Changes
internal import Files
internal import Stores

/// The trial of a view's rows in a mirror of the store, with the keys that their parents have here.
///
/// A view calls closures that cannot throw: the first error is kept, and `check` throws it.
final class Trial {
    private let mirror: Mirror
    private let keys: LocalKeys
    private let tables: [TableName: TableMapping]
    private let access: SidecarAccess
    private let blobs: BlobCache
    private var error: (any Error)?
    private(set) var missing: Set<BlobReference> = []
    /// The files that rows will name, and that do not exist yet.
    private(set) var newFiles: [RowFile: BlobReference] = [:]
    private var isHere: [NamedFile: Bool] = [:]
    /// The greatest number of rows whose results in SQLite are kept.
    private static let triedLimit = 40_000
    private var tried: [RowID: Tried] = [:]
    private var defaults: [TableName: [StoredValue?]] = [:]

    /// A row's values, with their form in SQLite.
    private struct Tried {
        var table: TableName
        var values: [StoredValue?]
        var taken: [StoredValue]?
    }

    /// A file with its expected content.
    private struct NamedFile: Hashable {
        var file: RowFile
        var content: BlobReference
    }
    private var lacking: Set<ViewKey> = []
    /// SQLite's words on the rows that it refuses.
    private(set) var words: [RowID: String] = [:]
    private let refused: [RowID: String]
    /// The rows whose unique keys were requested, as SQLite stores them.
    private(set) var asked: [ViewKey: Set<[StoredValue]>] = [:]

    init(
        _ mirror: Mirror,
        _ keys: LocalKeys,
        _ tables: [TableName: TableMapping],
        _ access: SidecarAccess,
        _ blobs: BlobCache
    ) throws {
        refused = try access.dirty.refusals()
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

    /// Returns whether a row was refused because its content is not here.
    func lacksBlob(_ key: ViewKey) -> Bool { lacking.contains(key) }

    func refuses(_ row: ViewRow, of table: TableName) -> Bool {
        guard let table = tables[table] else { return true }
        if let known = refused[row.id] {
            words[row.id] = known
            return true
        }
        if table.lacksKey(row) {
            words[row.id] = "its primary key is NULL here"
            return true
        }
        if lacksContent(row, of: table) || isStrange(row, of: table) { return true }
        return trying(true) {
            let values = filled(values(row, of: table), row, of: table)
            if try take(values, row.id, of: table) != nil { return false }
            let untried = try row.values.compactMap(\.reference).filter { try !blobs.has($0) }
            if untried.isEmpty {
                words[row.id] = mirror.words(of: table.schema)
                return true
            }
            // If the store shows these values, SQLite has accepted them. If the row differs from its shadow, it is
            // tried again once the content is here.
            if try !isAsShown(row, of: table) { missing.formUnion(untried) }
            return false
        }
    }

    func uniqueKeys(_ row: ViewRow, of table: TableName) -> [ViewSchema.UniqueKey] {
        guard let table = tables[table], table.schema.indexes.contains(where: \.isUnique) else {
            return []
        }
        return trying([]) {
            let values = filled(values(row, of: table), row, of: table)
            let taken = taken(values, row.id, of: table)
            asked[ViewKey(table.name, row.id), default: []].insert(taken)
            return try mirror.uniqueKeys(taken, of: table)
        }
    }

    /// Returns a row's values as SQLite will store them.
    func taken(_ values: [StoredValue?], _ id: RowID, of table: TableMapping) -> [StoredValue] {
        trying(nil) { try take(values, id, of: table) } ?? values.map { $0 ?? .null }
    }

    /// Tries a row, unless it was last tried with the same values.
    private func take(
        _ values: [StoredValue?],
        _ id: RowID,
        of table: TableMapping
    ) throws -> [StoredValue]? {
        if let last = tried[id], last.table == table.name, last.values == values {
            return last.taken
        }
        let taken = try mirror.take(values.map { $0 ?? .null }, of: table.schema)
        if tried.count == Self.triedLimit { tried = [:] }
        tried[id] = Tried(table: table.name, values: values, taken: taken)
        return taken
    }

    /// Returns the values of the stored columns; `nil` for columns that do not sync and have no default, and for
    /// content that is not here.
    func values(_ row: ViewRow, of table: TableMapping) -> [StoredValue?] {
        var values = defaults(of: table)
        if let place = table.keyIndex { values[place] = keys.key(of: row.id).map { .integer($0) } }
        for (column, value) in zip(table.columns, row.values) {
            let stored = written(value, column, row.id) ?? stored(value, in: column, of: row.id)
            values[column.index] = column.entities.map { stored.flatMap($0.number) } ?? stored
        }
        return values
    }

    /// Returns a reference as the store has it, if that names the same row: '07' stays in a column of texts.
    private func written(_ value: Value, _ column: ColumnMapping, _ row: RowID) -> StoredValue? {
        guard column.keepsForm, case .row(let parent) = value, let key = keys.key(of: parent) else {
            return nil
        }
        return trying(nil) {
            let parts = try access.shadow.row(row)?.image.partsByColumn()
            guard case .value(let value)? = try parts?[access.number(of: column.name)],
                KeyComparison.folded(value, .integer) == .integer(key)
            else { return nil }
            return value
        }
    }

    /// Returns the values of the stored columns that do not sync: their constant defaults, or `nil` to leave them
    /// alone.
    private func defaults(of table: TableMapping) -> [StoredValue?] {
        if let defaults = defaults[table.name] { return defaults }
        let travelling = Set(table.columns.map(\.place))
        let found: [StoredValue?] = table.schema.storedColumns.map { place in
            guard place != table.schema.rowIDAlias, !travelling.contains(place),
                case .constant(let value) = table.schema.columns[place].defaultValue
            else { return nil }
            return value
        }
        defaults[table.name] = found
        return found
    }

    /// Fills in long values whose content is not here, with other content of the same length.
    ///
    /// The same content always gets the same filling. Without it, a column that must not be NULL would refuse a row
    /// that the store shows.
    func filled(
        _ values: [StoredValue?],
        _ row: ViewRow,
        of table: TableMapping
    ) -> [StoredValue?] {
        var values = values
        for (column, value) in zip(table.columns, row.values) where values[column.index] == nil {
            guard let content = value.reference else { continue }
            if case .file(let name, _) = value {
                values[column.index] = column.files?.file(named: name)?.value
                continue
            }
            let name = Array(content.digest.description.utf8)
            let bytes = StoredBytes((0..<Int(content.size)).map { name[$0 % name.count] })
            if case .longText = value.unmarked {
                values[column.index] = .text(bytes)
            } else {
                values[column.index] = .blob(bytes)
            }
        }
        return values
    }

    /// Returns whether the store shows a row exactly so.
    private func isAsShown(_ row: ViewRow, of table: TableMapping) throws -> Bool {
        guard let shown = try access.shadow.row(row.id) else { return false }
        let parts = try shown.image.partsByColumn()
        return try zip(table.columns, row.values).allSatisfy { column, value in
            let part =
                RowImage.Part(long: value)
                ?? stored(value, in: column, of: row.id).map { .init($0) }
            return try parts[access.number(of: column.name)] == part
        }
    }

    /// Returns whether this store's model cannot have a row.
    ///
    /// The row has or refers to an entity that the model lacks, or names a file in a column without files.
    private func isStrange(_ row: ViewRow, of table: TableMapping) -> Bool {
        zip(table.columns, row.values).contains { column, value in
            if case .file(let name, _) = value { return column.files?.file(named: name) == nil }
            guard let entities = column.entities else { return false }
            return value.stored.flatMap(entities.number) == nil
        }
    }

    private func stored(
        _ value: Value,
        in column: ColumnMapping,
        of row: RowID
    ) -> StoredValue? {
        switch value.unmarked {
        case .row(let id): keys.key(of: id).map { .integer($0) } ?? .null
        case .longText(let content), .longBlob(let content):
            trying(nil) {
                guard let bytes = try blobs.content(content) else { return nil }
                if case .longText = value.unmarked { return .text(StoredBytes(bytes)) }
                return .blob(StoredBytes(bytes))
            }
        case .file(let name, let content):
            trying(nil) {
                guard let file = column.files?.file(named: name) else { return nil }
                let parts = try access.shadow.row(row)?.image.parts() ?? []
                return try has(file, content, parts) ? file.value : nil
            }
        default: value.stored
        }
    }

    /// Records the content that a row needs and that is not here, and returns whether the row must wait.
    ///
    /// A row that is shown can stay as it is.
    private func lacksContent(_ row: ViewRow, of table: TableMapping) -> Bool {
        if row.values.allSatisfy({ $0.reference == nil }) { return false }
        let long = zip(table.columns, row.values).filter { $1.reference != nil }
        return trying(true) {
            let shown = try access.shadow.row(row.id)
            let parts = try shown?.image.parts() ?? []
            let lacking = try long.filter { try !has($1, in: $0, parts) }
            if lacking.isEmpty { return false }
            for (column, value) in lacking {
                if let obstacle = try obstacle(to: value, in: column) {
                    words[row.id] = obstacle
                } else {
                    missing.formUnion([value.reference].compactMap(\.self))
                }
            }
            if shown == nil { self.lacking.insert(ViewKey(table.name, row.id)) }
            return shown == nil
        }
    }

    /// Records content that a row needs and that is not here.
    func require(_ content: some Sequence<BlobReference>) { missing.formUnion(content) }

    /// Returns words on what keeps the file of a value from being written; `nil` if nothing does.
    private func obstacle(to value: Value, in column: ColumnMapping) throws -> String? {
        guard case .file(let name, _) = value, let file = column.files?.file(named: name) else {
            return nil
        }
        return try blobs.files?.obstacle(to: file)
    }

    /// Returns whether the content of a value is shown by its row, or is here.
    ///
    /// Only the same value in the same column need not be written: another column's value, or a text with the bytes
    /// of a blob, is of no use.
    private func has(
        _ value: Value,
        in column: ColumnMapping,
        _ parts: [(column: Int64, part: RowImage.Part)]
    ) throws -> Bool {
        if case .file(let name, let content) = value {
            guard let file = column.files?.file(named: name) else {
                return try blobs.has(content)
            }
            return try has(file, content, parts)
        }
        guard let part = RowImage.Part(long: value) else { return true }
        let number = try access.number(of: column.name)
        if parts.contains(where: { $0.column == number && $0.part == part }) { return true }
        return try value.reference.map(blobs.has) ?? true
    }

    /// Returns whether a file is shown by its row, exists with this content, or can be written.
    ///
    /// A file with another content is never replaced.
    private func has(
        _ file: RowFile,
        _ content: BlobReference,
        _ parts: [(column: Int64, part: RowImage.Part)]
    ) throws -> Bool {
        let part = RowImage.Part(file.value)
        let isShown = parts.contains { $0.part == part }
        if isShown, file.isOfValue { return true }
        let named = NamedFile(file: file, content: content)
        if let isHere = isHere[named] { return isHere }
        guard let files = blobs.files else { return isShown }
        let found: Bool
        if try files.isTaken(file) {
            found = try files.content(of: file) == content
        } else {
            found = try newFiles[file] ?? content == content && blobs.has(content)
            if found { newFiles[file] = content }
        }
        isHere[named] = found
        return found
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

extension TableMapping {
    /// Returns whether a row has NULL in the columns that identify rows here, as one of another schema may.
    ///
    /// SQLite would store it, but nothing could find it again.
    fileprivate func lacksKey(_ row: ViewRow) -> Bool {
        let places = placesOfOnlyKey
        return zip(columns, row.values).contains { places.contains($0.place) && $1 == .null }
    }
}
