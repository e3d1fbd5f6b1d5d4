internal import Archives
public import Foundation
public import Stores

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
    public var stores: [StoreFacts]
    /// Everything that this backup has much less of than was expected; `nil` if there is nothing.
    public var anomalies: [Anomaly]?
    /// The rows to compare the next backup with, if they are not those of `stores`.
    public var expectedRows: [StoreRows]?
    /// Everything that was to be left out; `nil` if nothing was.
    public var excluded: Excluded?

    package init(
        id: BackupID,
        created: String,
        tool: String,
        reason: String?,
        root: Root,
        stores: [StoreFacts]
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

    /// The time of the backup.
    public var date: Date? { Timestamp.date(rfc3339: created) }

    /// The rows of each store.
    package var rows: [StoreRows] { stores.map { StoreRows($0) } }

    /// The rows to compare the next backup with.
    package var successorRows: [StoreRows] { expectedRows ?? rows }
}
