public import Files

/// The settings of a group for its schema: identities, references, names, exclusions, files.
///
/// A map can exclude, rename and identify, name the columns of files, and run or skip triggers that the store has;
/// nothing else.
public struct SyncMap: Document {
    public static let kind = FileKind.map

    /// The treatment of a trigger.
    public enum TriggerRule: String, Codable, Sendable {
        case run, skip
    }

    /// The target of a column's reference.
    public enum Reference: Hashable, Sendable {
        case table(TableName)
        /// The column only looks like a reference.
        case none
    }

    /// The meaning of the numbers of a table's rows.
    public enum Key: String, Codable, Sendable {
        /// A number means the same row on all devices.
        case shared
        /// A number is valid on one device alone.
        case own
    }

    /// The settings of a table.
    public struct Table: Equatable, Sendable {
        /// The columns that identify a row on all devices; `nil` if the schema determines them.
        public var identity: [ColumnName]?
        /// The meaning of the rows' numbers; `nil` if nobody has decided it.
        public var key: Key?
        /// The table's name in change files, if it was renamed.
        public var was: TableName?
        /// The names of renamed columns in change files, by their current names.
        public var renamed: [ColumnName: ColumnName] = [:]
        public var references: [ColumnName: Reference] = [:]
        /// The columns that do not sync.
        public var local: Set<ColumnName> = []

        public init() {}

        /// Whether the number of a row is the same on all devices.
        public var sharesKey: Bool { key == .shared }
    }

    /// The settings of tables, by their current names.
    public var tables: [TableName: Table] = [:]
    /// The tables that do not sync.
    public var exclude: Set<TableName> = []
    /// The treatment of triggers, by their names in ASCII lower case.
    public var triggers: [TableName: TriggerRule] = [:]
    /// The directories, below the stores directory, of the files that columns name, by tables.
    public var files: [TableName: [ColumnName: RelativePath]] = [:]

    public init() {}

    /// Reads a map from a file that a person wrote, in which an unknown key is a mistake.
    ///
    /// - Throws: `ChangeError.malformed`.
    public init(json: [UInt8], name: String) throws {
        do {
            self = try JSONText.decode(SyncMap.self, from: json, refusesOtherKeys: true)
        } catch {
            throw ChangeError.malformed(name, reason: error.reason)
        }
    }

    /// Returns the map as JSON, with its keys in order.
    ///
    /// - Throws: `FormatBreach` if the map contradicts itself.
    public func json() throws -> [UInt8] {
        try JSONText.encode(self)
    }

    /// Throws if two columns or tables share a name in change files, or an identity has no columns.
    public func check() throws {
        for (name, table) in tables {
            let names = Set(table.renamed.values)
            guard names.count == table.renamed.count else {
                throw FormatBreach("two columns of '\(name)' have the same 'was'")
            }
            guard table.identity != [] else {
                throw FormatBreach("the identity of '\(name)' has no columns")
            }
        }
        // JSON readers treat names as one if Unicode does, and SQLite does not.
        let texts = Set(tables.keys.map(\.description))
        guard texts.count == tables.count else {
            throw FormatBreach("two tables have names that look alike")
        }
        let names = tables.values.compactMap(\.was)
        guard Set(names).count == names.count else {
            throw FormatBreach("two tables have the same 'was'")
        }
    }
}

extension SyncMap: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case tables, exclude, triggers, files
    }

    public init(from decoder: any Decoder) throws {
        try decoder.checkKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        tables = try named(values.decodeIfPresent([String: Table].self, forKey: .tables), tableName)
        exclude = Set(
            try (values.decodeIfPresent([String].self, forKey: .exclude) ?? []).map(tableName)
        )
        triggers = try named(
            values.decodeIfPresent([String: TriggerRule].self, forKey: .triggers),
            tableName
        )
        for (text, directory) in try values.decodeIfPresent([String: String].self, forKey: .files)
            ?? [:]
        {
            let (table, column) = try columnPath(text)
            let path: RelativePath
            do { path = try RelativePath(directory) } catch {
                throw FormatBreach("the files of '\(text)' are in no directory: \(error)")
            }
            files[table, default: [:]][column] = path
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        if !tables.isEmpty { try values.encode(texts(tables), forKey: .tables) }
        if !exclude.isEmpty {
            try values.encode(exclude.sorted().map(\.description), forKey: .exclude)
        }
        if !triggers.isEmpty { try values.encode(texts(triggers), forKey: .triggers) }
        if !files.isEmpty {
            let directories = files.flatMap { table, columns in
                columns.map { ("\(table).\(columnText($0))", $1.description) }
            }
            try values.encode(Dictionary(directories) { first, _ in first }, forKey: .files)
        }
    }
}

extension SyncMap.Table: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case identity, key, was, columns, references, local
    }

    private struct Column: Codable {
        private enum CodingKeys: String, CodingKey, CaseIterable {
            case was
        }

        var was: String?

        init(was: String?) {
            self.was = was
        }

        init(from decoder: any Decoder) throws {
            try decoder.checkKeys(CodingKeys.self)
            was = try decoder.container(keyedBy: CodingKeys.self)
                .decodeIfPresent(String.self, forKey: .was)
        }
    }

    public init(from decoder: any Decoder) throws {
        try decoder.checkKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        identity = try values.decodeIfPresent([String].self, forKey: .identity)?.map(columnName)
        if let text = try values.decodeIfPresent(String.self, forKey: .key) {
            key = SyncMap.Key(rawValue: text)
            guard key != nil else { throw FormatBreach("a key can only be 'shared' or 'own'") }
        }
        was = try values.decodeIfPresent(String.self, forKey: .was).map(tableName)
        let columns = try values.decodeIfPresent([String: Column].self, forKey: .columns)
        renamed = try named(columns, columnName).compactMapValues(\.was).mapValues(columnName)
        let references = try values.decodeIfPresent([String: String].self, forKey: .references)
        self.references = try named(references, columnName).mapValues { text in
            text == "none" ? .none : .table(try tableName(text))
        }
        local = Set(
            try (values.decodeIfPresent([String].self, forKey: .local) ?? []).map(columnName)
        )
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(identity?.map(columnText), forKey: .identity)
        try values.encodeIfPresent(key, forKey: .key)
        try values.encodeIfPresent(was?.description, forKey: .was)
        if !renamed.isEmpty {
            let columns = renamed.map { (columnText($0), Column(was: columnText($1))) }
            try values.encode(Dictionary(columns) { first, _ in first }, forKey: .columns)
        }
        if !references.isEmpty {
            let pairs = references.map { column, reference in
                switch reference {
                case .table(let name): (columnText(column), name.description)
                case .none: (columnText(column), "none")
                }
            }
            try values.encode(Dictionary(pairs) { first, _ in first }, forKey: .references)
        }
        if !local.isEmpty { try values.encode(local.sorted().map(columnText), forKey: .local) }
    }
}

private func tableName(_ text: String) throws -> TableName {
    guard let name = TableName(text) else { throw FormatBreach("a table's name is not one") }
    return name
}

private func columnName(_ text: String) throws -> ColumnName {
    guard let name = ColumnName(text) else { throw FormatBreach("a column's name is not one") }
    return name
}

/// Reads 'TABLE.COLUMN'.
private func columnPath(_ text: String) throws -> (TableName, ColumnName) {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw FormatBreach("'\(text)' is not 'TABLE.COLUMN'") }
    return (try tableName(String(parts[0])), try columnName(String(parts[1])))
}

private func columnText(_ name: ColumnName) -> String {
    name.schemaName ?? name.description
}

/// Returns values by parsed names, and refuses two names that differ only in case.
private func named<Name: Hashable, Content>(
    _ values: [String: Content]?,
    _ name: (String) throws -> Name
) throws -> [Name: Content] {
    var named: [Name: Content] = [:]
    for (text, value) in values ?? [:] {
        guard named.updateValue(value, forKey: try name(text)) == nil else {
            throw FormatBreach("'\(text)' is in it twice")
        }
    }
    return named
}

private func texts<Content>(_ values: [TableName: Content]) -> [String: Content] {
    Dictionary(values.map { ($0.description, $1) }) { first, _ in first }
}
