internal import Archives
public import Foundation
public import Stores

/// The first line of a manifest: the archive's description of the backup; see
/// `Documentation/Design/ArchiveFormat.md`, 4.1.
public struct ManifestHeader: Codable, Sendable {
    /// The format version of a full backup.
    public static let wholeFormat = 1
    /// The format version of an increment, the newest version that this program reads.
    public static let currentFormat = 2

    public var format: Int
    /// The backup's identity, which it keeps when it is copied, renamed or moved.
    public var id: BackupID
    /// The creation time in RFC 3339 with an offset.
    public var created: String
    /// The time by which the newest earlier backup of its origin is ordered, if that is not before `created`.
    ///
    /// A clock was wrong then, and this backup has the newer data all the same.
    public var follows: String?
    /// The program that made the archive, and its version.
    public var tool: String
    /// The reason for a safety backup; `nil` for any other backup.
    public var reason: String?
    /// The paths that the restore replaces, as it was given them, if it leaves everything else alone.
    public var replaced: [String]?
    /// The stores directory: a hash of its path and its machine; `nil` if it was not recorded.
    public var origin: String?
    /// The display name of `origin`; `nil` if it was not recorded.
    public var originName: String?
    /// The signatures by which earlier keys of the origin vouch for the key that signs the manifest.
    public var vouchers: [String]?
    /// The size of a segment in bytes.
    public var segmentSize: Int
    public var root: Root
    public var stores: [StoreFacts]
    /// The files that belong to no store; `nil` if they were not recorded.
    public var otherFiles: OtherFiles?
    /// The data that this backup has much less of than expected; `nil` if there is none.
    public var anomalies: [Anomaly]?
    /// The rows to compare the next backup with, if they differ from those of `stores`.
    public var expectedRows: [StoreRows]?
    /// The files to compare the next backup with, if they differ from `otherFiles`.
    public var expectedOtherFiles: OtherFiles?
    /// The excluded files and the rules; `nil` if there were no rules.
    public var excluded: Excluded?
    /// A digest of the recipients for whom it was encrypted, see `BackupKeys.digest`; `nil` if it was not.
    public var recipients: String?
    /// The lineage of the backup, in which later backups may be built on it; `nil` if there is none.
    public var lineage: String?
    /// The number in its lineage; 0 for the first backup, which is full.
    public var number: Int?
    /// The backups that an increment is built on, the full one first; `nil` for a full backup.
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

    /// Whether the archive holds only the differences from another one.
    public var isIncrement: Bool { format >= 2 }

    /// The texts that are remembered of a backup, and shown in lists.
    var keptTexts: [String] {
        [id.rawValue, created, tool, root.mode]
            + [follows, reason, origin, originName, recipients, lineage].compactMap(\.self)
            + (needs ?? []).flatMap { [$0.name, $0.created, $0.state] }
    }

    /// The maximum number of backups that an increment may be built on.
    private static let needsLimit = 16

    /// Whether the needs are valid: only an increment has needs, and their numbers increase.
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

    /// The number of rows of each store.
    package var rows: [StoreRows] { stores.map { StoreRows($0) } }

    /// The data to compare the next backup with.
    package var expectedNext: ExpectedData {
        ExpectedData(
            stores: expectedRows ?? rows,
            otherFiles: expectedOtherFiles ?? otherFiles
        )
    }
}
