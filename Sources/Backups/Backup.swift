public import History
public import Foundation
public import Remotes

/// A saved state of a stores directory, as users list, restore and delete it.
public struct Backup: Sendable, Equatable {
    /// The source of a backup's time.
    public enum TimeSource: String, Sendable {
        /// Its manifest, which is the truth.
        case manifest
        /// Its name, which knows minutes of local time only.
        case name
    }

    /// Its file in the remote folder.
    public var file: RemoteFile
    /// Its identity; `nil` until its archive was looked at.
    package var id: BackupID?
    /// The moment it was made; `nil` if nothing tells.
    public var time: Date?
    /// The source of `time`.
    public var timeSource: TimeSource?
    /// Whether it has much less than there was before, as far as is known; see `Anomaly`.
    public var isAnomalous = false
    /// Seconds east of UTC at the place it was made; `nil` if only its name tells of its time.
    package var offset: Int?
    /// The digest of everything in it; `nil` if it is not known.
    package var content: String?
    /// The stores directory's own rights and owner; `nil` if they are not known.
    package var root: ManifestHeader.Root?
    /// Whether it was looked at, and has no manifest: another program made it.
    package var isForeign = false
    /// Whether its archive could not be read when it was looked at.
    public var isUnreadable = false
    /// The last checks of it, as far as they are remembered.
    public var checks = CheckHistory([])
    /// The damage that the folder's annotations tell of.
    package internal(set) var notedDamage: String?
    public var tags: [String] = []
    public var note: String?
    /// Whether it is removed only by name.
    public var isPinned = false

    /// The file's name.
    public var name: String { file.name }
    /// The name without ` Stores.zip`.
    public var displayName: String { BackupName.display(file.name) }
    /// Bytes in the archive.
    public var size: Int64 { file.size }

    /// The key under which checks and annotations are kept: its name as long as nothing else is known.
    package var key: BackupID { id ?? Self.key(of: name) }

    static func key(of name: String) -> BackupID { BackupID(rawValue: "name:\(name)") }

    /// Damage that its last checks or a glance found, or that its folder's notes tell of.
    package var damage: String? {
        checks.damaged?.damage ?? notedDamage ?? (isUnreadable ? "its archive cannot be read" : nil)
    }

    init(_ file: RemoteFile, timeZone: TimeZone) {
        self.file = file
        time = BackupName.date(of: file.name, in: timeZone)
        timeSource = time == nil ? nil : .name
    }

    /// Takes everything that its manifest says of it.
    package mutating func take(_ header: ManifestHeader) {
        id = header.id
        guard let parts = Timestamp.parts(rfc3339: header.created),
            let date = Timestamp.date(of: parts)
        else { return }
        time = date
        timeSource = .manifest
        offset = parts.offset
        isAnomalous = header.anomalies != nil
        root = header.root
        isForeign = false
    }
}

extension Backup {
    /// Clocks of several machines never agree.
    private static let clockTolerance: TimeInterval = 300

    /// Returns a warning about a backup that is from the future, since its clock or ours was wrong.
    public func futureWarning(at now: Date) -> String? {
        guard isFromFuture(at: now) else { return nil }
        return "'\(displayName)' is from the future: is the clock right?"
    }

    /// Returns whether it was made later than now.
    package func isFromFuture(at now: Date) -> Bool {
        time.map { $0.timeIntervalSince(now) > Self.clockTolerance } ?? false
    }

    /// Returns the reason not to rely on it; `nil` for a good backup.
    package func warning(at now: Date) -> String? {
        if let warning = futureWarning(at: now) { return warning }
        if isAnomalous { return "'\(displayName)' has much less in it than the backup before it" }
        return damage.map { "'\(displayName)' is damaged: \($0)" }
    }
}
