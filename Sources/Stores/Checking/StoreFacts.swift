/// The record of one store in a manifest.
///
/// The manifest's coders convert the keys to snake case.
public struct StoreFacts: Sendable, Equatable, Codable {
    /// The kinds of store; an archive of a newer version may have others.
    public struct Kind: RawRepresentable, Codable, Sendable, Equatable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let sqlite = Kind(rawValue: "sqlite")
        public static let coreData = Kind(rawValue: "core_data")
    }

    /// A table and its number of rows.
    public struct Table: Sendable, Equatable, Codable {
        public var name: String
        /// The number of rows; `nil` if they could not be counted.
        public var rows: Int64?

        package init(name: String, rows: Int64?) {
            self.name = name
            self.rows = rows
        }
    }

    /// The store's path in printable form, for people; the records of files have exact names.
    public var path: String
    public var pageSize: Int
    public var pageCount: Int64
    /// The mode as `PRAGMA journal_mode` names it: `wal`, or `delete` for all rollback modes.
    public var journalMode: String
    public var userVersion: Int64
    public var applicationID: Int64
    public var kind: Kind
    public var tables: [Table]
    /// The number of files of external data that its rows refer to; `nil` if rows cannot refer to files, or were not
    /// searched.
    public var externalReferences: Int64?

    private enum CodingKeys: String, CodingKey {
        case path, pageSize, pageCount, journalMode, userVersion, kind, tables, externalReferences
        // `convertFromSnakeCase` turns 'application_id' into this form.
        case applicationID = "applicationId"
    }
}

extension StoreFacts {
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        path = try values.decode(String.self, forKey: .path)
        pageSize = try values.decode(Int.self, forKey: .pageSize)
        pageCount = try values.decode(Int64.self, forKey: .pageCount)
        journalMode = try values.decode(String.self, forKey: .journalMode)
        userVersion = try values.decode(Int64.self, forKey: .userVersion)
        applicationID = try values.decode(Int64.self, forKey: .applicationID)
        kind = try values.decode(Kind.self, forKey: .kind)
        tables = try values.decode([Table].self, forKey: .tables)
        externalReferences = try values.decodeRows(forKey: .externalReferences)
    }
}

extension StoreFacts.Table {
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        name = try values.decode(String.self, forKey: .name)
        rows = try values.decodeRows(forKey: .rows)
    }
}

extension KeyedDecodingContainer {
    /// Decodes a count of rows; `nil` if there is none, or if it is negative.
    ///
    /// A bad count is no reason to refuse an archive: a restore needs no count of rows.
    package func decodeRows(forKey key: Key) throws -> Int64? {
        try decodeIfPresent(Int64.self, forKey: key).flatMap { $0 < 0 ? nil : $0 }
    }
}
