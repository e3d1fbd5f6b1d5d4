internal import Files
public import Foundation
public import Remotes
internal import History

/// A saved state of a stores directory, as users list, restore and delete it.
public struct Backup: Sendable, Equatable {
    /// Where a backup's time is known from.
    public enum TimeSource: String, Sendable {
        /// Its manifest, which is the truth.
        case manifest
        /// Its name, which knows minutes of local time only.
        case name
    }

    /// Its file in the remote folder.
    public var file: RemoteFile
    /// When it was made; `nil` where nothing tells.
    public var time: Date?
    /// Where `time` is from.
    public var timeSource: TimeSource?
    /// Whether it has much less than there was before, as far as is known; see `Anomaly`.
    public var isAnomalous = false
    /// Seconds east of UTC where it was made; `nil` where only its name tells of it.
    var offset: Int?
    /// The digest of all that is in it; `nil` where it is not known.
    var content: String?
    /// The stores directory's own rights and owner; `nil` where they are not known.
    var root: ManifestHeader.Root?
    /// Whether it was looked at, and has no manifest: another program made it.
    var isForeign = false
    /// Whether its archive could not be read, as far as it was looked at.
    public var isDamaged = false
    /// What its checks found to be wrong with it, where that stands and is known.
    var foundDamage: String?
    /// What it was tagged with.
    public var tags: [String] = []
    /// What somebody noted of it.
    public var note: String?
    /// Whether it is never removed but by name.
    public var isPinned = false

    /// The file's name.
    public var name: String { file.name }
    /// The name without ` Stores.zip`.
    public var displayName: String { BackupName.display(file.name) }
    /// Bytes in the archive.
    public var size: Int64 { file.size }

    /// Takes what its manifest says of it.
    mutating func take(_ header: ManifestHeader) {
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

    /// Takes what the log says of its last checks.
    mutating func take(_ checks: [RunLog.Check]) {
        foundDamage = CheckHistory(checks, size: size).damaged?.damage
    }

    /// What is known to be wrong with its archive, by its last checks or by what a glance shows.
    var damage: String? { foundDamage ?? (isDamaged ? "its archive cannot be read" : nil) }
}

extension [Backup] {
    /// The backup that a person means: by its file name, its display name, any unique part of it,
    /// or `latest`.
    ///
    /// - Parameters:
    ///   - text: what the person said.
    ///   - address: where, for messages.
    ///   - now: what is later is `latest` only where there is nothing else; `nil` where that does not matter.
    /// - Returns: the backup; what is `latest` comes first in a list that is sorted newest first.
    /// - Throws: `OperationError.noBackup`, `.noBackups`, `.ambiguous`.
    func matching(_ text: String, address: String, now: Date? = nil) throws -> Backup {
        let real = now.map(notFromFuture) ?? self
        if text == "latest", let newest = real.first ?? first { return newest }
        if let exact = first(where: { $0.name == text || $0.displayName == text }) { return exact }
        let matches = text.isEmpty ? [] : filter { $0.name.contains(text) }
        guard matches.count < 2 else {
            throw OperationError.ambiguous(text, matches: matches.map(\.displayName))
        }
        guard let match = matches.first else {
            throw isEmpty
                ? OperationError.noBackups(address)
                : OperationError.noBackup(text, address: address)
        }
        return match
    }
}

extension Backup {
    /// Clocks of several machines never agree.
    private static let clockTolerance: TimeInterval = 300

    /// What to say of a backup that is from the future: its time or ours is wrong.
    ///
    /// - Returns: `nil` for all others.
    public func futureWarning(at now: Date) -> String? {
        guard isFromFuture(at: now) else { return nil }
        return "'\(displayName)' is from the future: is the clock right?"
    }

    /// Whether it was made later than now: then or now a clock was wrong.
    func isFromFuture(at now: Date) -> Bool {
        time.map { $0.timeIntervalSince(now) > Self.clockTolerance } ?? false
    }

    /// Why it is not to be relied on; `nil` for a good backup.
    func warning(at now: Date) -> String? {
        if let warning = futureWarning(at: now) { return warning }
        if isAnomalous { return "'\(displayName)' has much less in it than the backup before it" }
        return damage.map { "'\(displayName)' is damaged: \($0)" }
    }
}

extension [Backup] {
    /// Those that are not from the future, in the same order.
    func notFromFuture(_ now: Date) -> [Backup] { filter { !$0.isFromFuture(at: now) } }

    /// The newest that is good, of a list that is sorted newest first.
    func newestGood(at now: Date) -> Backup? {
        first { $0.time != nil && $0.warning(at: now) == nil }
    }
}
