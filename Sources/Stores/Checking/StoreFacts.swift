/// The record of one store in a manifest.
///
/// A manifest's keys are in snake case, which its coders see to.
public struct StoreFacts: Sendable, Equatable, Codable {
    /// The kinds of store; an archive of a newer version may have others.
    public struct Kind: RawRepresentable, Codable, Sendable, Equatable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let sqlite = Kind(rawValue: "sqlite")
        public static let coreData = Kind(rawValue: "core_data")
    }

    /// A table and how many rows it has.
    public struct Table: Sendable, Equatable, Codable {
        public var name: String
        /// `nil` if they could not be counted.
        public var rows: Int64?
    }

    /// Printable, for people; the names in the records of files are exact.
    public var path: String
    public var pageSize: Int
    public var pageCount: Int64
    /// As `PRAGMA journal_mode` names it: `wal`, or `delete` for all rollback modes.
    public var journalMode: String
    public var userVersion: Int64
    public var applicationID: Int64
    public var kind: Kind
    public var tables: [Table]
    /// How many files of external data its rows refer to; `nil` if they can refer to none, or were not searched.
    public var externalReferences: Int64?

    private enum CodingKeys: String, CodingKey {
        case path, pageSize, pageCount, journalMode, userVersion, kind, tables, externalReferences
        // The form in which `convertFromSnakeCase` gives 'application_id'.
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
    /// An archive is not refused for it: no count of rows is needed to restore.
    package func decodeRows(forKey key: Key) throws -> Int64? {
        try decodeIfPresent(Int64.self, forKey: key).flatMap { $0 < 0 ? nil : $0 }
    }
}
