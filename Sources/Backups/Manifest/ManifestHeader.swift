internal import Archives
public import Foundation
public import Stores

/// The first line of a manifest: the archive's description of the backup; see
/// `Documentation/ArchiveFormat.md`, 4.1.
public struct ManifestHeader: Codable, Sendable {
    /// The version of the format that a whole archive has.
    public static let wholeFormat = 1
    /// The version of the format that an increment has: the newest that this program reads.
    public static let currentFormat = 2

    public var format: Int
    /// The backup's identity, which it keeps when it is copied, renamed or moved.
    public var id: BackupID
    /// RFC 3339 with an offset.
    public var created: String
    /// The program that made the archive, and its version.
    public var tool: String
    /// The backup's reason, unless it was made for its own sake.
    public var reason: String?
    /// The stores directory that it is of: a hash of its path and its machine; `nil` if that was not noted.
    public var origin: String?
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
    /// The series of backups that it belongs to, of which later ones may be built on it; `nil` if none are.
    public var lineage: String?
    /// Its number in its lineage; 0 for the first, which is whole.
    public var number: Int?
    /// The backups that an increment is built on, the whole one first; `nil` for a whole one.
    public var needs: [Need]?

    package init(
        id: BackupID,
        created: String,
        tool: String,
        reason: String?,
        root: Root,
        stores: [StoreFacts]
    ) {
        format = Self.wholeFormat
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

    /// Whether the archive holds only what is different from another one's.
    public var isIncrement: Bool { format >= 2 }

    /// The most backups that one may be built on.
    private static let needsLimit = 16

    /// Whether just an increment is built on others, and each of them on those before it.
    var hasPossibleNeeds: Bool {
        guard isIncrement else { return needs == nil }
        guard let needs, let number, lineage != nil, !needs.isEmpty,
            needs.count <= Self.needsLimit
        else { return false }
        let numbers = needs.map(\.number) + [number]
        return needs[0].number >= 0 && zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
    }

    /// The time of the backup.
    public var date: Date? { Timestamp.date(rfc3339: created) }

    /// The rows of each store.
    package var rows: [StoreRows] { stores.map { StoreRows($0) } }

    /// The rows to compare the next backup with.
    package var successorRows: [StoreRows] { expectedRows ?? rows }
}
