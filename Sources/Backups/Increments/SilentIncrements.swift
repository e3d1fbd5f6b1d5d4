internal import Files
internal import Foundation

/// The increments of a folder whose needs are unknown.
///
/// Each may need any backup of the weeks before it. A list of all pairs would be too long, so they are looked up.
struct SilentIncrements {
    /// The maximum age in seconds of a needed backup.
    ///
    /// It exceeds the time for which increments are built on a full backup.
    private static let span: TimeInterval = 35 * 86_400

    /// The increments of known times, newest first.
    private let dated: [(time: Date, backup: Backup)]
    private let undated: [Backup]
    private let trustsNames: Bool

    /// Collects the increments whose needs are unknown.
    ///
    /// - Parameters:
    ///   - backups: all backups.
    ///   - trustsNames: whether times from names and files can rule out a need.
    init(_ backups: [Backup], trustingNames trustsNames: Bool) {
        let silent = backups.filter { $0.isIncrement && $0.needs.isEmpty }.newestFirst
        dated = silent.compactMap { backup in backup.time.map { ($0, backup) } }
        undated = silent.filter { $0.time == nil }
        self.trustsNames = trustsNames
    }

    /// Returns all increments that may need a backup, newest first.
    func all(mayNeed backup: Backup) -> [Backup] {
        near(backup).map(\.backup).filter { mayNeed(backup, $0) }
            + undated.filter { mayNeed(backup, $0) }
    }

    /// Returns the newest increment that may need a backup, among those for which the closure returns `true`.
    func newest(mayNeed backup: Backup, where counts: (Backup) -> Bool) -> Backup? {
        near(backup).first { mayNeed(backup, $0.backup) && counts($0.backup) }?.backup
            ?? undated.first { mayNeed(backup, $0) && counts($0) }
    }

    /// Returns the increments whose times do not rule out that they need a backup.
    private func near(_ backup: Backup) -> ArraySlice<(time: Date, backup: Backup)> {
        guard let time = backup.time, trustsNames else { return dated[...] }
        let latest = time + Self.span + Backup.nameTolerance
        let first = dated.firstPlace { $0.time <= latest }
        return dated[first..<dated.firstPlace { $0.time < time - Backup.nameTolerance }]
    }

    private func mayNeed(_ backup: Backup, _ other: Backup) -> Bool {
        // No increment is built on another program's zip.
        guard backup.name.exact != other.name.exact, !backup.isForeign else { return false }
        guard let time = backup.time, let end = other.time else { return true }
        // A name's time is precise to the minute, in an unknown time zone.
        let isExact = backup.timeSource == .manifest && other.timeSource == .manifest
        guard isExact || trustsNames else { return true }
        let slack = isExact ? 0 : Backup.nameTolerance
        return (-slack...Self.span + slack).contains(end.timeIntervalSince(time))
    }
}

/// The backups whose names alone are known, found by the descriptions of needed backups.
struct UnknownBackups {
    private let dated: [(time: Date, backup: Backup)]
    private let undated: [Backup]
    private let shown: [ExactString: [Backup]]

    /// Collects the unknown backups.
    init(_ backups: [Backup]) {
        let unknown = backups.filter(\.isUnknown)
        dated = unknown.compactMap { backup in backup.ownTime.map { ($0, backup) } }
            .sorted { $0.time > $1.time }
        undated = unknown.filter { $0.ownTime == nil }
        shown = Dictionary(grouping: unknown, by: { BackupName.display($0.name).exact })
    }

    /// Returns the backups that may be the one that an increment is built on; see `Backup.likeness`.
    func like(_ need: Need, of lineage: String?) -> [Backup] {
        var found = (shown[BackupName.display(need.name).exact] ?? []) + undated
        if let time = Timestamp.date(rfc3339: need.created) {
            let first = dated.firstPlace { $0.time <= time + Backup.nameTolerance }
            let end = dated.firstPlace { $0.time < time - Backup.nameTolerance }
            found += dated[first..<end].map(\.backup)
        } else {
            found += dated.map(\.backup)
        }
        return found.filter { $0.likeness(to: need, of: lineage) != nil }
    }
}

extension Array {
    /// Returns the first index at which a condition holds, by bisection.
    ///
    /// The condition must hold for all later elements.
    fileprivate func firstPlace(where holds: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
