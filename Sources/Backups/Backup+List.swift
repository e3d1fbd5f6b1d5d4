internal import Files
package import Foundation

// Lists of backups are sorted newest first.
extension [Backup] {
    /// Finds the backup that a person means.
    ///
    /// - Parameters:
    ///   - text: the backup's file name, its display name, its identity, any unique part of its name, or its day as
    ///     `2026-11-21`. `latest` is the newest backup that is no safety backup.
    ///   - address: the folder, for messages.
    ///   - now: the current time. A backup from the future is `latest` only if there is no other. `nil` to ignore the
    ///     time.
    /// - Returns: the only matching backup.
    /// - Throws: `BackupFolderError.noBackup`, `.noBackups`, `.onlySafetyBackups`, `.ambiguous`.
    package func matching(_ text: String, address: String, now: Date? = nil) throws -> Backup {
        if text == "latest", !isEmpty {
            let ordinary = ordinary.withoutReplaced
            if let newest = (now.map(ordinary.real(at:)) ?? ordinary).first { return newest }
            throw BackupFolderError.onlySafetyBackups(address)
        }
        if let exact = try exactly(text) { return exact }
        let day = BackupName.beginning(ofDay: text)
        let matches =
            text.isEmpty
            ? []
            : filter { backup in
                BackupName.mayBePart(text, of: backup.name)
                    || day.map { backup.name.exact.hasPrefix($0.exact) } ?? false
            }.withoutReplaced
        guard matches.count < 2 else {
            throw BackupFolderError.ambiguous(text, matches: matches.map(\.displayName))
        }
        guard let match = matches.first else {
            throw isEmpty
                ? BackupFolderError.noBackups(address)
                : BackupFolderError.noBackup(text, address: address, nearest: nearestName(to: text))
        }
        return match
    }

    /// Returns the backup whose whole name, display name or identity is the text; `nil` if there is none.
    ///
    /// - Throws: `BackupFolderError.ambiguous`.
    func exactly(_ text: String) throws -> Backup? {
        let found = filter { backup in
            [backup.name, BackupName.display(backup.name), backup.id?.rawValue]
                .contains { $0?.exact == text.exact }
        }.withoutReplaced
        guard found.count > 1 else { return found.first }
        let files = found.filter { $0.name.exact == text.exact }
        guard files.count == 1 else {
            throw BackupFolderError.ambiguous(text, matches: found.map(\.displayName))
        }
        return files.first
    }

    /// Sorts a whole list, and gives a name of its own to each backup whose display name another one has.
    ///
    /// That is its file name, or its identity if a waiting backup has the same file name too.
    mutating func arrange() {
        sortNewestFirst()
        let shown = Dictionary(grouping: indices) { BackupName.display(self[$0].name).exact }
        for namesakes in shown.values where namesakes.count > 1 {
            let files = Dictionary(grouping: namesakes) { self[$0].name.exact }
            for index in namesakes {
                let (name, id) = (self[index].name, self[index].id?.rawValue)
                self[index].distinctName = files[name.exact]?.count == 1 ? name : id ?? name
            }
        }
    }

    /// Returns the name of the newest backup that a misspelt text may mean: the text resembles its name or a part of
    /// it.
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

    /// The maximum number of names that are compared with a misspelt one.
    private static let comparedNames = 200

    /// Returns the newest backup, except safety backups, that was made at a moment or before it.
    ///
    /// - Parameters:
    ///   - moment: the moment. A backup whose time comes from its file alone is skipped.
    ///   - text: the moment in the user's words, for messages.
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

    /// Returns the backups that are not from the future, in the same order, or all if all are from the future.
    func real(at now: Date) -> [Backup] {
        let real = notFromFuture(now)
        return real.isEmpty ? self : real
    }

    /// The time that a backup follows which is made now: that of the newest of these, if it is not in the past.
    package func followed(at now: Date) -> Date? {
        compactMap(BackupOrder.time).max().flatMap {
            $0.milliseconds >= now.milliseconds ? $0 : nil
        }
    }

    /// The backups that are no safety backups as far as their manifests are known, in the same order.
    ///
    /// Anybody who may write to the folder can note that a backup is one.
    var perhapsOrdinary: [Backup] { filter { !$0.isSafety || $0.isUnknown } }

    /// The backups that are no safety backups, in the same order.
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

    /// Returns the newest complete backup without a warning.
    package func newestGood(at now: Date) -> Backup? {
        ordinary.first { $0.ownTime != nil && $0.warning(at: now) == nil && !$0.isPartial }
    }

    /// The newest undamaged backup with a known manifest.
    package var newestKnown: Backup? {
        ordinary.first { $0.damage == nil && $0.timeSource == .manifest }
    }

    /// Whether the anomaly guard is active, so that no policy may remove a backup.
    ///
    /// The newest backup has much less data than the one before it, and the others may have the rest. A damaged backup,
    /// or one without a known manifest, is ignored; the one before it decides.
    public var isGuarded: Bool { newestKnown?.isAnomalous ?? false }

    /// A closure that takes a backup and a name, and returns whether the file of that name holds the backup, as far as
    /// known.
    ///
    /// Damage found in such a file belongs to that file alone. Any other file was renamed or is gone.
    var copies: (Backup, String) -> Bool {
        let ids = Dictionary(map { ($0.name.exact, $0.id) }) { first, _ in first }
        return { backup, name in
            guard let id = ids[name.exact] else { return false }
            return id == nil || id == backup.id
        }
    }

    /// The backups sorted newest first, by manifest, name or file time.
    package var newestFirst: [Backup] { sorted(by: BackupOrder(of: self).isNewer) }

    /// The newest of these backups.
    var newest: Backup? { self.min(by: BackupOrder(of: self).isNewer) }

    /// Sorts the newest first.
    ///
    /// Backups whose time comes from the file alone go last.
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
