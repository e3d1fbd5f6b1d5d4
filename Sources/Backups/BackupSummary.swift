internal import Files
package import Foundation

/// The facts about a backup that its archive states; they are the same wherever the archive is.
///
/// The catalog keeps each summary as one line.
package struct BackupSummary: Sendable, Equatable {
    /// The time in milliseconds since 1970-01-01 UTC; `nil` for an archive without a manifest.
    var time: Int64?
    /// The offset in seconds east of UTC where it was made; `nil` if unknown.
    var offset: Int?
    /// Whether it has much less data than the backup before it; see `Anomaly`.
    var isAnomalous = false
    /// The reason for a safety backup; `nil` for any other backup.
    var reason: String?
    /// Whether data is missing from it, or is not as of one moment, as far as known.
    var isPartial = false
    /// The digest of all its content; `nil` if unknown.
    var content: String?
    /// The mode and owner of the stores directory itself; `nil` if unknown.
    var root: ManifestHeader.Root?
    /// The rules that excluded files from it, see `Excluded.key`; `nil` if there were none, or if they are unknown.
    var exclusions: String?
    /// The identity of its origin; `nil` if unknown.
    var origin: String?
    /// The origin's display name; `nil` if it has none.
    var originName: String?
    /// The lineage of the backup; `nil` if it has none, or if it is unknown.
    var lineage: String?
    /// The backup's number in its lineage.
    var number: Int?
    /// The backups that an increment is built on; empty for a full backup.
    var needs: [Need] = []
    /// The amount of data in its stores; `nil` if unknown.
    package internal(set) var extent: BackupExtent?
    /// A digest of the recipients for whom it was encrypted; `nil` if it was not, or if they are unknown.
    package internal(set) var recipients: String?
    /// The time by which an earlier backup is ordered although this one is not later, see `ManifestHeader.follows`.
    ///
    /// In milliseconds since 1970-01-01 UTC; `nil` if there is none.
    var follows: Int64?

    init() {}

    /// Summarizes a manifest; returns `nil` if its time cannot be read.
    init?(_ header: ManifestHeader) {
        guard let parts = Timestamp.parts(rfc3339: header.created),
            let date = Timestamp.date(of: parts)
        else { return nil }
        time = date.milliseconds
        offset = parts.offset
        isAnomalous = header.anomalies != nil
        reason = header.reason
        root = header.root
        exclusions = header.excluded?.key
        origin = header.origin
        originName = header.originName
        lineage = header.lineage
        number = header.number
        needs = header.needs ?? []
        extent = BackupExtent(of: header.stores)
        recipients = header.recipients
        follows = header.follows.flatMap(Timestamp.date(rfc3339:))?.milliseconds
    }

    /// Whether an archive with a manifest was summarized by an earlier version, without its extent.
    var lacksExtent: Bool { time != nil && extent == nil }

    /// The moment it was made; `nil` for an archive without a manifest.
    var date: Date? { time.map(Date.init(milliseconds:)) }

    /// Whether a manifest can hold these numbers.
    var isPossible: Bool {
        [time, follows].compactMap(\.self).allSatisfy(Timestamp.range.contains)
            && offset.map(Timestamp.offsets.contains) ?? true
    }
}

extension Date {
    /// The time in nanoseconds since 1970-01-01 UTC, or the nearest representable number.
    package var nanoseconds: Int64 { Int64(saturating: timeIntervalSince1970 * 1_000_000_000) }

    /// The time in milliseconds since 1970-01-01 UTC.
    package var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }

    /// Creates a date from a time in milliseconds since 1970-01-01 UTC.
    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

extension BackupSummary: Codable {
    package init(from decoder: any Decoder) throws {
        var line = try CatalogLine(from: decoder)
        time = try line.number()
        offset = try line.number()
        isAnomalous = try line.flag()
        reason = try line.text()
        isPartial = try line.flag()
        content = try line.text()
        root = try ManifestHeader.Root(mode: line.text(), uid: line.number(), gid: line.number())
        exclusions = try line.text()
        origin = try line.text()
        originName = try line.text()
        lineage = try line.text()
        number = try line.number()
        needs = try line.value() ?? []
        // Earlier versions did not add it, and what they know of archives elsewhere must not be lost.
        extent = try line.isAtEnd ? nil : line.text().map(BackupExtent.init(text:))
        recipients = try line.isAtEnd ? nil : line.text()
        follows = try line.isAtEnd ? nil : line.number()
        try line.end()
    }

    package func encode(to encoder: any Encoder) throws {
        var line = CatalogLine()
        line.add(time)
        line.add(offset)
        line.add(isAnomalous)
        line.add(reason)
        line.add(isPartial)
        line.add(content)
        line.add(root?.mode)
        line.add(root?.uid)
        line.add(root?.gid)
        line.add(exclusions)
        line.add(origin)
        line.add(originName)
        line.add(lineage)
        line.add(number)
        try line.add(value: needs.isEmpty ? nil : needs)
        line.add(extent?.text)
        line.add(recipients)
        line.add(follows)
        try line.encode(to: encoder)
    }
}

extension ManifestHeader.Root {
    fileprivate init?(mode: String?, uid: UInt32?, gid: UInt32?) {
        guard let mode, let uid, let gid else { return nil }
        self.init(mode: 0, owner: uid, group: gid)
        self.mode = mode
    }
}

/// The identity of a backup, which it keeps when it is copied, renamed or moved to another folder.
///
/// The identity is a random UUID from the manifest, or the digest of the central directory for another program's
/// archive. It is the key of notes, pins, checks and the catalog.
public struct BackupID: RawRepresentable, Codable, CodingKeyRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    // A backup that is otherwise unknown has its file name as identity.
    public static func == (left: BackupID, right: BackupID) -> Bool {
        left.rawValue.exact == right.rawValue.exact
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue.exact) }

    /// Returns an identity that no other backup has.
    package static func random() -> BackupID {
        BackupID(rawValue: UUID().uuidString.lowercased())
    }
}

/// A backup that an increment is built on; see `Documentation/Design/ArchiveFormat.md`, 11.
public struct Need: Codable, Sendable, Equatable {
    /// The file's name when the increment was made.
    public var name: String
    /// The size of the archive in bytes.
    public var size: Int64
    /// The creation time as in its manifest: RFC 3339 with an offset.
    public var created: String
    /// The backup's number in its lineage.
    public var number: Int
    /// The digest of its state.
    ///
    /// Backups of the lineage with the same digest hold the same.
    public var state: String

    package init(name: String, size: Int64, created: String, number: Int, state: String) {
        self.name = name
        self.size = size
        self.created = created
        self.number = number
        self.state = state
    }
}
