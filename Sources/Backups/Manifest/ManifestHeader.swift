internal import Archives
package import Files
public import Foundation
package import Stores

/// The first line of a manifest: the archive's description of the backup; see
/// `Documentation/ArchiveFormat.md`, 4.1.
public struct ManifestHeader: Codable, Sendable {
    /// The version of the format that this program writes, and the newest that it reads.
    public static let currentFormat = 1

    public var format: Int
    /// The backup's identity, which it keeps when it is copied, renamed or moved.
    public var id: BackupID
    /// RFC 3339 with an offset.
    public var created: String
    /// The program that made the archive, and its version.
    public var tool: String
    /// The backup's reason, unless it was made for its own sake.
    public var reason: String?
    /// Bytes in a segment.
    public var segmentSize: Int
    public var root: Root
    public var stores: [StoreRecord]
    /// Everything that this backup has much less of than was expected; `nil` if there is nothing.
    public var anomalies: [Anomaly]?
    /// The rows to compare the next backup with, if they are not those of `stores`.
    public var expectedRows: [StoreRows]?

    package init(
        id: BackupID,
        created: String,
        tool: String,
        reason: String?,
        root: Root,
        stores: [StoreRecord]
    ) {
        format = Self.currentFormat
        self.id = id
        self.created = created
        self.tool = tool
        self.reason = reason
        segmentSize = Segment.size
        self.root = root
        self.stores = stores
    }

    /// The stores directory itself.
    public struct Root: Codable, Sendable, Equatable {
        public var mode: String
        public var uid: UInt32
        public var gid: UInt32

        package init(mode: UInt16, owner: UInt32, group: UInt32) {
            self.mode = ManifestRecord.octal(mode)
            uid = owner
            gid = group
        }
    }

    /// A store and what is in it.
    public struct StoreRecord: Codable, Sendable {
        /// Printable: names in a manifest's records are exact, this one is for people.
        public var path: String
        public var pageSize: Int
        public var pageCount: Int64
        public var journalMode: String
        public var userVersion: Int64
        public var applicationId: Int64
        public var kind: String
        public var tables: [Table]
    }

    /// A table and how many rows it has.
    public struct Table: Codable, Sendable {
        public var name: String
        /// `nil` where they could not be counted.
        public var rows: Int64?

        init(name: String, rows: Int64?) {
            self.name = name
            self.rows = rows
        }

        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            name = try values.decode(String.self, forKey: .name)
            rows = try values.decodeRows(forKey: .rows)
        }
    }

    /// The time of the backup.
    public var date: Date? { Timestamp.date(rfc3339: created) }

    /// The rows of each store.
    package var rows: [StoreRows] { stores.map { StoreRows($0) } }

    /// The rows to compare the next backup with.
    package var successorRows: [StoreRows] { expectedRows ?? rows }
}

extension ManifestHeader.StoreRecord {
    package init(path: RelativePath, facts: StoreFacts) {
        self.init(
            path: path.description,
            pageSize: facts.pageSize,
            pageCount: facts.pageCount,
            journalMode: facts.journalMode,
            userVersion: facts.userVersion,
            applicationId: facts.applicationID,
            kind: facts.kind.rawValue,
            tables: facts.tables.map { ManifestHeader.Table(name: $0.name, rows: $0.rows) }
        )
    }
}

