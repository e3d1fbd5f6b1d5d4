public import Age
internal import Files
public import Foundation
public import History
public import Remotes

/// A saved state of a stores directory, as users list, restore and delete it.
public struct Backup: Sendable, Equatable {
    /// The source of a backup's time.
    public enum TimeSource: String, Sendable {
        /// The manifest, which is the most reliable source.
        case manifest
        /// The name, which is precise to the minute only.
        case name
        /// The file's modification time, which a copy does not keep.
        case file
    }

    /// The backup's file in the remote folder.
    @Boxed public var file: RemoteFile
    /// Whether its archive is on this machine.
    public var isOnThisMachine: Bool { file.location != nil }
    /// The facts that its archive states, as far as known.
    @Boxed package var summary = BackupSummary()
    /// The backup's identity; `nil` until its archive has been inspected.
    package var id: BackupID?
    /// The moment it was made; `nil` if unknown.
    public var time: Date?
    /// The source of `time`.
    public var timeSource: TimeSource?
    /// The proof of who made it; `nil` if its manifest is unknown.
    @Boxed package internal(set) var signature: BackupSignature? = nil
    /// The name of the trusted signer.
    public internal(set) var signer: String?
    /// The key that signed it; `nil` if it is unsigned, or if the key is unknown.
    public var signerKey: SSHPublicKey? { signature?.key }
    /// The reason why the backup does not count, because it has no trusted signature.
    ///
    /// `nil` if it has one, or if signatures are not required.
    public internal(set) var distrust: Distrust?
    /// A needed backup that is not there, or is damaged.
    package internal(set) var lack: Dependence.Lack?
    /// Whether it was inspected and has no manifest, so that another program made it.
    package var isForeign = false {
        didSet { if isForeign, timeSource == .name { time = localTime } }
    }
    /// The time in its name, read in the local time zone, as other programs name their archives.
    private let localTime: Date?
    /// Whether its archive could not be read when it was inspected.
    public var isUnreadable = false
    /// Whether it had another size when this machine saw it last, and was not looked at since: it was cut off or replaced.
    public internal(set) var hasOtherSize = false
    /// The system's reason why its archive could not be read, which may be whole.
    package var refusal: String?
    /// Whether it is encrypted and no available key opens it, so that only its name is known.
    public var isSealed = false
    /// Whether its archive has a beginning and no end: it is still being copied, or was cut off.
    public var isCutOff = false
    /// The latest checks of it, as far as they are remembered.
    public var checks = CheckHistory([])
    /// The check that found damage, as the folder's annotations report it.
    package internal(set) var noted: RunLog.Check?
    public var tags: [String] = []
    public var note: String?
    /// Whether only a command that names it removes it.
    public var isPinned = false
    /// Whether it waits on this machine until its folder can be reached.
    public var isWaiting = false
    /// The name for people if others of its list have the same display name.
    var distinctName: String?

    /// The file's name.
    public var name: String { file.name }
    /// The name for people, which means this backup alone: the name without ` Stores.zip`, unless another backup of
    /// the list has the same.
    public var displayName: String { distinctName ?? BackupName.display(file.name) }
    /// Whether it is built on other backups.
    public var isIncrement: Bool { BackupName.isIncrement(file.name) || !needs.isEmpty }
    /// Whether it can be read only with a key.
    public var isEncrypted: Bool { BackupName.isEncrypted(file.name) }
    /// The size of the archive in bytes.
    public var size: Int64 { file.size }

    /// The key of its checks and annotations: its identity, or its name while the identity is unknown.
    package var key: BackupID { id ?? Self.key(of: name) }

    /// Whether a restore made it from the data that it replaced.
    ///
    /// Such a backup is never `latest`, and new backups are not compared with it: a restore replaced that data because
    /// it was unwanted.
    public var isSafety: Bool { reason != nil }

    static func key(of name: String) -> BackupID { BackupID(rawValue: "name:\(name)") }

    /// The reason why it cannot be restored as it is, as far as known.
    package var damage: String? {
        archiveDamage
            ?? lack.map {
                "it is built on '\($0.name)', which is \($0.state.rawValue)"
            }
    }

    /// The damage that its latest checks or a glance found, or that the folder's annotations report.
    package var archiveDamage: String? {
        knownDamage
            ?? (isCutOff
                ? Self.notReady
                : isUnreadable ? refusal ?? "its archive cannot be read" : nil)
    }

    /// The damage that a check found.
    private var knownDamage: String? { checks.damaged?.damage ?? noted?.damage }

    /// The kinds of damage, in words for a message.
    public enum Trouble: String, Sendable {
        case damaged = "is damaged"
        /// Only its end is missing.
        case notReady = "is not ready"
        /// The system refuses to read it here.
        case unread = "cannot be read"
    }

    /// The kind of its damage; `nil` if none is known.
    public var trouble: Trouble? {
        if damage == nil { return nil }
        if knownDamage != nil { return .damaged }
        return isCutOff ? .notReady : refusal != nil ? .unread : .damaged
    }

    /// The reason not to rely on an archive without an end.
    package static let notReady = "it is still being copied, or was cut off"

    init(_ file: RemoteFile, timeZone: LocalZone) {
        _file = Boxed(wrappedValue: file)
        localTime = BackupName.date(of: file.name, in: timeZone)
        summary.offset = BackupName.offset(of: file.name)
        if let date = BackupName.date(of: file.name) {
            (time, timeSource) = (date, .name)
        } else if let date = file.modified {
            (time, timeSource) = (date, .file)
        }
    }

    /// The time from its manifest or its name; `nil` if only its file has a time.
    ///
    /// A copy of an old archive has a new file, so ages, policies and `latest` do not use the file's time.
    package var ownTime: Date? { timeSource == .file ? nil : time }

    /// Takes over everything that the header of its manifest says.
    ///
    /// Facts that only the end of the manifest, or an annotation, has stay as they are.
    package mutating func take(_ header: ManifestHeader, _ signature: BackupSignature) {
        id = header.id
        self.signature = signature
        guard var new = BackupSummary(header) else { return }
        (new.content, new.isPartial) = (summary.content, summary.isPartial)
        take(new, signature)
    }

    /// Takes over a summary; one without a time is of another program's archive, which has no signature.
    mutating func take(_ summary: BackupSummary, _ signature: BackupSignature?) {
        self.summary = summary
        self.signature = signature
        isForeign = summary.time == nil
        if let date = summary.date { (time, timeSource) = (date, .manifest) }
    }
}

extension Backup {
    /// The reason for a safety backup; `nil` for any other backup.
    public var reason: String? { summary.reason }
    /// Whether data is missing from it, or is not as of one moment, as far as known.
    public var isPartial: Bool { summary.isPartial }
    /// Whether it has much less data than the backup before it, as far as known; see `Anomaly`.
    public var isAnomalous: Bool { summary.isAnomalous }
    /// The offset in seconds east of UTC where it was made; `nil` if neither its manifest nor its name has it.
    package var offset: Int? { summary.offset }
    /// The digest of all its content; `nil` if unknown.
    package var content: String? { summary.content }
    /// The mode and owner of the stores directory itself; `nil` if unknown.
    package var root: ManifestHeader.Root? { summary.root }
    /// The rules that excluded files from it; `nil` if there were none, or if they are unknown.
    package var exclusions: String? { summary.exclusions }
    /// The identity of the backup's origin in its manifest; `nil` if unknown.
    package var origin: String? { summary.origin }
    /// The origin's display name; `nil` if it has none.
    public var originName: String? { summary.originName }
    /// The lineage of the backup: the backups that may be built on each other; `nil` if it has none, or if it is unknown.
    package var lineage: String? { summary.lineage }
    /// The backup's number in its lineage.
    package var number: Int? { summary.number }
    /// The backups that an increment is built on, as far as known; empty for a full backup.
    public var needs: [Need] { summary.needs }
}

extension Backup {
    /// The tolerance in seconds, since the clocks of several machines never agree.
    private static let clockTolerance: TimeInterval = 300

    /// Returns its age; zero for a backup from the future, `nil` if its time is unknown.
    public func age(at now: Date) -> Duration? {
        time.map { .milliseconds(Int64(max(0, now.timeIntervalSince($0)) * 1000)) }
    }

    /// Returns a warning if the backup is from the future, because its clock or the local one was wrong.
    public func futureWarning(at now: Date) -> String? {
        guard isFromFuture(at: now) else { return nil }
        return "'\(displayName)' is from the future: is the clock right?"
    }

    /// Returns whether it was made later than now, beyond the tolerance.
    package func isFromFuture(at now: Date) -> Bool {
        ownTime.map { $0.timeIntervalSince(now) > Self.clockTolerance } ?? false
    }

    /// Returns the reason not to rely on it; `nil` for a good backup.
    package func warning(at now: Date) -> String? {
        if let warning = futureWarning(at: now) { return warning }
        if isAnomalous { return "'\(displayName)' has much less in it than the backup before it" }
        if let damage = archiveDamage, let trouble {
            return "'\(displayName)' \(trouble.rawValue): \(damage)"
        }
        let state = lack?.isGone == true ? "cannot be restored" : "may not be whole"
        return damage.map { "'\(displayName)' \(state): \($0)" }
    }
}

/// A value behind one reference, which makes copies of its owner cheap: lists of 100,000 backups are sorted and filtered.
@propertyWrapper
public struct Boxed<Value: Sendable & Equatable>: Sendable, Equatable {
    private final class Storage: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private var storage: Storage

    public init(wrappedValue: Value) { storage = Storage(wrappedValue) }

    public var wrappedValue: Value {
        get { storage.value }
        set { storage = Storage(newValue) }
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.storage === right.storage || left.wrappedValue == right.wrappedValue
    }
}
