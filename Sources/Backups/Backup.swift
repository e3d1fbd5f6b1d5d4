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
        /// Its file, which knows when that was written here: a copy has another time.
        case file
    }

    /// Its file in the remote folder.
    public var file: RemoteFile
    /// Whether its archive is on this machine.
    public var isOnThisMachine: Bool { file.location != nil }
    /// The reason of a safety backup; `nil` for any other.
    public internal(set) var reason: String?
    /// Whether something is missing in it, or is not as of one moment, as far as is known.
    public internal(set) var isPartial = false
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
    /// The rules by which files were left out of it; `nil` if there were none, or they are not known.
    package var exclusions: String?
    /// What its manifest says of the stores directory that it is of; `nil` if that is not known.
    package internal(set) var origin: String?
    /// The series of backups that may be built on each other; `nil` if it is in none, or that is not known.
    package internal(set) var lineage: String?
    /// Its number in its lineage.
    package internal(set) var number: Int?
    /// The backups that an increment is built on, as far as they are known; empty for a whole one.
    public internal(set) var needs: [Need] = []
    /// One of these that is neither in its folder nor in its trash: then it cannot be restored.
    public internal(set) var missingNeed: String?
    /// Whether it was looked at, and has no manifest: another program made it.
    package var isForeign = false
    /// Whether its archive could not be read when it was looked at.
    public var isUnreadable = false
    /// Whether it is encrypted, and no key here opened it: only its name tells of it.
    public var isSealed = false
    /// Whether its archive begins as one and has no end: it is still being copied, or was cut off.
    public var isCutOff = false
    /// The last checks of it, as far as they are remembered.
    public var checks = CheckHistory([])
    /// The damage that the folder's annotations tell of.
    package internal(set) var notedDamage: String?
    public var tags: [String] = []
    public var note: String?
    /// Whether it is removed only by name.
    public var isPinned = false
    /// Whether it is on this machine only, until its folder can be reached.
    public var isWaiting = false

    /// The file's name.
    public var name: String { file.name }
    /// The name without ` Stores.zip`.
    public var displayName: String { BackupName.display(file.name) }
    /// Whether it is built on other backups.
    public var isIncrement: Bool { BackupName.isIncrement(file.name) }
    /// Whether only those read it who have a key.
    public var isEncrypted: Bool { BackupName.isEncrypted(file.name) }
    /// Bytes in the archive.
    public var size: Int64 { file.size }

    /// The key under which checks and annotations are kept: its name as long as nothing else is known.
    package var key: BackupID { id ?? Self.key(of: name) }

    /// Whether a restore made it of the data that it replaced.
    ///
    /// Such a backup is never `latest`, and is no measure of what there should be: a restore replaced it
    /// because it was not wanted.
    public var isSafety: Bool { reason != nil }

    static func key(of name: String) -> BackupID { BackupID(rawValue: "name:\(name)") }

    /// The reason for which it cannot be restored as it is, as far as that is known.
    package var damage: String? {
        archiveDamage ?? missingNeed.map { "it is built on '\($0)', which is gone" }
    }

    /// Damage that its last checks or a glance found, or that its folder's notes tell of.
    package var archiveDamage: String? {
        knownDamage
            ?? (isCutOff ? Self.notReady : isUnreadable ? "its archive cannot be read" : nil)
    }

    /// Damage that a check found.
    private var knownDamage: String? { checks.damaged?.damage ?? notedDamage }

    /// Whether all that is wrong with it, as far as is known, is that it has no end yet.
    package var isNotReady: Bool { isCutOff && knownDamage == nil }

    /// The reason not to rely on an archive without an end.
    package static let notReady = "it is still being copied, or was cut off"

    init(_ file: RemoteFile, timeZone: TimeZone) {
        self.file = file
        if let date = BackupName.date(of: file.name, in: timeZone) {
            (time, timeSource) = (date, .name)
        } else if let date = file.modified {
            (time, timeSource) = (date, .file)
        }
    }

    /// The moment that it tells of itself; `nil` if only its file has a time.
    ///
    /// A copy of an old archive has a new file: no age, no policy and no `latest` relies on that.
    package var ownTime: Date? { timeSource == .file ? nil : time }

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
        exclusions = header.excluded?.key
        reason = header.reason
        origin = header.origin
        lineage = header.lineage
        number = header.number
        needs = header.needs ?? []
        isForeign = false
    }
}

extension Backup {
    /// Clocks of several machines never agree.
    private static let clockTolerance: TimeInterval = 300

    /// Returns how old it is; zero for one from the future, `nil` if its time is not known.
    public func age(at now: Date) -> Duration? {
        time.map { .milliseconds(Int64(max(0, now.timeIntervalSince($0)) * 1000)) }
    }

    /// Returns a warning about a backup that is from the future, since its clock or ours was wrong.
    public func futureWarning(at now: Date) -> String? {
        guard isFromFuture(at: now) else { return nil }
        return "'\(displayName)' is from the future: is the clock right?"
    }

    /// Returns whether it was made later than now.
    package func isFromFuture(at now: Date) -> Bool {
        ownTime.map { $0.timeIntervalSince(now) > Self.clockTolerance } ?? false
    }

    /// Returns the reason not to rely on it; `nil` for a good backup.
    package func warning(at now: Date) -> String? {
        if let warning = futureWarning(at: now) { return warning }
        if isAnomalous { return "'\(displayName)' has much less in it than the backup before it" }
        if let damage = archiveDamage {
            return "'\(displayName)' is \(isNotReady ? "not ready" : "damaged"): \(damage)"
        }
        return damage.map { "'\(displayName)' cannot be restored: \($0)" }
    }
}
