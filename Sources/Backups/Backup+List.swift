internal import Files
package import Foundation

// Lists of backups are sorted newest first.
extension [Backup] {
    /// Finds the backup that a person means.
    ///
    /// - Parameters:
    ///   - text: its file name, its display name, any unique part of it, or `latest`, which is no
    ///     safety backup.
    ///   - address: the folder, for messages.
    ///   - now: a later backup is `latest` only if there is no other; `nil` if that does not matter.
    /// - Returns: the only one that fits.
    /// - Throws: `BackupFolderError.noBackup`, `.noBackups`, `.onlySafetyBackups`, `.ambiguous`.
    package func matching(_ text: String, address: String, now: Date? = nil) throws -> Backup {
        if text == "latest", !isEmpty {
            let ordinary = ordinary.withoutReplaced
            if let newest = (now.map(ordinary.real(at:)) ?? ordinary).first { return newest }
            throw BackupFolderError.onlySafetyBackups(address)
        }
        let exact = filter { $0.name == text || $0.displayName == text }.withoutReplaced
        if let exact = try exact.only(named: text) { return exact }
        let matches = text.isEmpty ? [] : filter { $0.name.contains(text) }.withoutReplaced
        guard matches.count < 2 else {
            throw BackupFolderError.ambiguous(text, matches: matches.shownNames)
        }
        guard let match = matches.first else {
            throw isEmpty
                ? BackupFolderError.noBackups(address)
                : BackupFolderError.noBackup(text, address: address, nearest: nearestName(to: text))
        }
        return match
    }

    /// Returns the only one of these, which all have a name, or the one whose file has it; `nil` if there are none.
    ///
    /// - Throws: `BackupFolderError.ambiguous`.
    func only(named text: String) throws -> Backup? {
        guard count > 1 else { return first }
        let files = filter { $0.name == text }
        guard files.count == 1 else {
            throw BackupFolderError.ambiguous(text, matches: shownNames)
        }
        return files.first
    }

    /// The names that people see; those of the files where two backups would have the same.
    public var shownNames: [String] {
        let counts = Dictionary(grouping: self, by: \.displayName).mapValues(\.count)
        return map { counts[$0.displayName, default: 0] > 1 ? $0.name : $0.displayName }
    }

    /// Returns the name of the newest backup of those whose name, or a part of it, a misspelt text was perhaps meant to be.
    private func nearestName(to text: String) -> String? {
        let names = prefix(Self.comparedNames).map(\.displayName)
        if let whole = Files.nearestName(to: text, among: names) { return whole }
        guard text.count > 3 else { return nil }
        let parts = names.map { name in
            let characters = [Character](name)
            return (0..<Swift.max(0, characters.count - text.count + 1)).map { start in
                String(characters[start..<(start + text.count)])
            }
        }
        guard let nearest = Files.nearestName(to: text, among: parts.joined()) else { return nil }
        return parts.firstIndex { $0.contains(nearest) }.map { names[$0] }
    }

    /// The most names that are compared with one that is not there.
    private static let comparedNames = 200

    /// Returns the newest backup that was made at a moment or before it, and is no safety backup.
    ///
    /// - Parameters:
    ///   - moment: the moment; a backup of which only its file has a time is passed over.
    ///   - text: the moment as a person said it, for messages.
    ///   - address: the folder, for messages.
    /// - Returns: the backup.
    /// - Throws: `BackupFolderError.noneUntil`, `.noBackups`.
    package func newest(until moment: Date, saying text: String, address: String) throws -> Backup {
        let dated = ordinary.withoutReplaced.compactMap { backup in
            backup.ownTime.map { (backup, $0) }
        }
        guard let newest = dated.first(where: { $0.1 <= moment }) else {
            throw isEmpty
                ? BackupFolderError.noBackups(address)
                : BackupFolderError.noneUntil(text, address: address)
        }
        return newest.0
    }

    /// Returns the backups that are not from the future, in the same order.
    package func notFromFuture(_ now: Date) -> [Backup] { filter { !$0.isFromFuture(at: now) } }

    /// Returns the backups that are not from the future, or all if all are; in the same order.
    func real(at now: Date) -> [Backup] {
        let real = notFromFuture(now)
        return real.isEmpty ? self : real
    }

    /// The backups that were made for their own sake, in the same order.
    package var ordinary: [Backup] { filter { !$0.isSafety } }

    /// Returns the backup that undoes the last restore.
    ///
    /// - Throws: `BackupFolderError.nothingToUndo`.
    package func newestSafety(address: String, now: Date) throws -> Backup {
        guard let newest = filter(\.isSafety).real(at: now).first else {
            throw BackupFolderError.nothingToUndo(address)
        }
        return newest
    }

    /// Returns the newest good one, which is complete.
    package func newestGood(at now: Date) -> Backup? {
        ordinary.first { $0.ownTime != nil && $0.warning(at: now) == nil && !$0.isPartial }
    }

    /// The newest whose manifest is known and that is not damaged.
    package var newestKnown: Backup? {
        ordinary.first { $0.damage == nil && $0.timeSource == .manifest }
    }

    /// Whether the anomaly guard is up: no policy may then remove a backup.
    ///
    /// The newest backup has much less than there was before, and the others may have the rest. A
    /// damaged backup, or one without a known manifest, tells nothing; the one before it may.
    public var isGuarded: Bool { newestKnown?.isAnomalous ?? false }

    /// Tells of a backup and a name whether the file of that name holds the backup, as far as is known.
    ///
    /// Damage that was found in such a file is its own; of any other, the file was renamed or is gone.
    var copies: (Backup, String) -> Bool {
        let ids = Dictionary(map { ($0.name, $0.id) }) { first, _ in first }
        return { backup, name in
            guard let id = ids[name] else { return false }
            return id == nil || id == backup.id
        }
    }

    /// These backups, the newest first, by whatever tells their times.
    package var newestFirst: [Backup] { sorted(by: BackupOrder(of: self).isNewer) }

    /// Puts the newest first; those that do not tell their time themselves come after all others.
    package mutating func sortNewestFirst() {
        let order = BackupOrder(of: self)
        sort { left, right in
            switch (left.ownTime, right.ownTime) {
            case (_?, nil): true
            case (nil, _?): false
            default: order.isNewer(left, right)
            }
        }
    }
}
