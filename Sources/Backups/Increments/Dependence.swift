internal import Foundation

/// Tells which backups of a folder are needed by others: those cannot be restored without them.
package struct Dependence {
    /// An increment whose needs are not known may need any that is not older than this before it: longer than
    /// others are ever built on a whole backup.
    private static let unknownSpan: TimeInterval = 35 * 86_400

    /// By the name of a backup, those that need it.
    private var dependants: [String: [Backup]] = [:]

    /// Finds out who needs whom.
    ///
    /// - Parameters:
    ///   - backups: those that may be needed.
    ///   - others: those that may need them; all, as a rule.
    package init(of backups: [Backup], by others: [Backup]) {
        let byName = Dictionary(grouping: backups, by: \.name)
        let byNumber = Dictionary(grouping: backups.filter { $0.lineage != nil }) {
            Place(lineage: $0.lineage, number: $0.number)
        }
        for other in others where other.isIncrement {
            guard !other.needs.isEmpty else {
                for backup in backups where Self.mayBeNeeded(backup, by: other) {
                    dependants[backup.name, default: []].append(other)
                }
                continue
            }
            for need in other.needs.reversed() {
                let named = (byName[need.name] ?? []).filter { $0.size == need.size }
                let place = Place(lineage: other.lineage, number: need.number)
                let alike = (byNumber[place] ?? []).filter {
                    $0.time == Timestamp.date(rfc3339: need.created)
                }
                let found = Set((named + alike).map(\.name)).subtracting([other.name])
                for name in found { dependants[name, default: []].append(other) }
                // A whole one needs nothing before it.
                if (named + alike).contains(where: { !$0.isIncrement }) { break }
            }
        }
    }

    private struct Place: Hashable {
        var lineage: String?
        var number: Int?
    }

    private static func mayBeNeeded(_ backup: Backup, by other: Backup) -> Bool {
        guard backup.name != other.name else { return false }
        guard let time = backup.time, let end = other.time else { return true }
        return time <= end && end.timeIntervalSince(time) <= unknownSpan
    }

    /// Returns the backups that need one, the newest first.
    package func dependants(of backup: Backup) -> [Backup] {
        (dependants[backup.name] ?? []).sorted { $0.isNewer(than: $1) }
    }
}

extension [Backup] {
    /// Returns some of these backups and all that they need, in the order of these.
    package func withNeeds(of backups: [Backup]) -> [Backup] {
        var names = Set(backups.map(\.name))
        let needs = Dependence(of: self, by: backups)
        for backup in self where !needs.dependants(of: backup).isEmpty {
            names.insert(backup.name)
        }
        return filter { names.contains($0.name) }
    }

    /// The same backups, each before those that it needs.
    package var dependantsFirst: [Backup] {
        enumerated().sorted {
            ($1.element.needs.count, $0.offset) < ($0.element.needs.count, $1.offset)
        }
        .map(\.element)
    }
}
