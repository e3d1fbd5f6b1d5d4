internal import Foundation

/// Tells which backups of a folder are needed by others: those cannot be restored without them.
package struct Dependence {
    /// An increment whose needs are not known may need any that is not older than this before it: longer than
    /// others are ever built on a whole backup.
    private static let unknownSpan: TimeInterval = 35 * 86_400

    /// By the name of a backup, those that are known to need it.
    private var known: [String: [Backup]] = [:]
    /// By the name of a backup, those that may need it as far as is known.
    private var possible: [String: [Backup]] = [:]
    /// By the name of an increment, the last that it is built on which is not there.
    private(set) var missing: [String: Need] = [:]

    /// Finds out who needs whom.
    ///
    /// Where nothing else is what an increment needs, all that may be it are perhaps needed.
    /// - Parameters:
    ///   - backups: those that may be needed.
    ///   - others: those that may need them; all, as a rule.
    ///   - listed: those of the folder, if they are not the first: a whole one of these stands in for an
    ///     increment, and where one of these is what is needed, no other is taken for it.
    ///   - trustsNames: whether a time that is not the manifest's own says that one cannot need another. Names
    ///     and files' times may be anything: they are good enough to keep a backup, and not to delete one.
    package init(
        of backups: [Backup],
        by others: [Backup],
        listed: [Backup]? = nil,
        trustingNames trustsNames: Bool = true
    ) {
        let byName = Dictionary(grouping: backups, by: \.name)
        let byNumber = Dictionary(grouping: backups.filter { $0.lineage != nil }, by: Place.init)
        let unknown = backups.filter { $0.lineage == nil }
        let wholes = Dictionary(
            grouping: (listed ?? backups).filter { $0.lineage != nil && $0.isWholeAndGood },
            by: Place.init
        )
        for other in others where other.isIncrement {
            guard !other.needs.isEmpty else {
                for backup in backups
                where Self.mayBeNeeded(backup, by: other, trustingNames: trustsNames) {
                    possible[backup.name, default: []].append(other)
                }
                continue
            }
            for need in other.needs.reversed() {
                let named = (byName[need.name] ?? []).filter { $0.size == need.size }
                let place = Place(lineage: other.lineage, number: need.number)
                let time = Timestamp.date(rfc3339: need.created)
                let alike = (byNumber[place] ?? []).filter { $0.time == time }
                // A whole one in its place is enough, and needs nothing before it.
                let isWhole = (wholes[place] ?? []).contains { $0.time == time }
                var found = (named + alike).filter { !isWhole || $0.isWholeAndGood }
                // Nor is a deleted one needed whose twin is there.
                let isListed = (listed ?? []).contains {
                    (found.isEmpty || $0.damage == nil)
                        && $0.likeness(to: need, of: other.lineage)?.isKnown ?? false
                }
                if isListed { found = [] }
                let isGuess = found.isEmpty && !isWhole && !isListed
                if isGuess {
                    found = unknown.filter { $0.likeness(to: need, of: other.lineage) != nil }
                    if found.isEmpty { missing[other.name] = missing[other.name] ?? need }
                }
                for name in Set(found.map(\.name)).subtracting([other.name]) {
                    if isGuess {
                        possible[name, default: []].append(other)
                    } else {
                        known[name, default: []].append(other)
                    }
                }
                if isWhole || found.contains(where: { $0.isWholeAndGood && $0.lineage != nil }) {
                    break
                }
            }
        }
    }

    private struct Place: Hashable {
        var lineage: String?
        var number: Int?

        init(lineage: String?, number: Int?) {
            self.lineage = lineage
            self.number = number
        }

        init(_ backup: Backup) { self.init(lineage: backup.lineage, number: backup.number) }
    }

    private static func mayBeNeeded(
        _ backup: Backup,
        by other: Backup,
        trustingNames trustsNames: Bool
    ) -> Bool {
        // Another program's zip is needed by none.
        guard backup.name != other.name, !backup.isForeign else { return false }
        guard let time = backup.time, let end = other.time else { return true }
        // A name has the minute, of the time zone that it was made in.
        let isExact = backup.timeSource == .manifest && other.timeSource == .manifest
        guard isExact || trustsNames else { return true }
        let slack = isExact ? 0 : Backup.nameTolerance
        return (-slack...unknownSpan + slack).contains(end.timeIntervalSince(time))
    }

    /// Returns the backups that need one, or may need it as far as is known, the newest first.
    package func dependants(of backup: Backup) -> [Backup] {
        let sure = known[backup.name] ?? []
        let names = Set(sure.map(\.name))
        return (sure + possibleDependants(of: backup).filter { !names.contains($0.name) })
            .newestFirst
    }

    /// Returns the backups that are known to need one, the newest first.
    package func knownDependants(of backup: Backup) -> [Backup] {
        (known[backup.name] ?? []).newestFirst
    }

    /// Returns the backups that may need one, as it is not known what they need, or what this one is; the
    /// newest first.
    package func possibleDependants(of backup: Backup) -> [Backup] {
        (possible[backup.name] ?? []).newestFirst
    }
}

extension [Backup] {
    /// Marks the increments that cannot be restored, as something that they are built on is gone.
    ///
    /// What may be what they need, and is not known here, is taken for it.
    /// - Parameter deleted: returns those in the trash, which is asked only if something is not here; `nil` if
    ///   that cannot be told.
    mutating func markIncomplete(deleted: () async -> [Backup]?) async {
        let increments = filter(\.isIncrement)
        guard !increments.isEmpty else { return }
        var missing = Dependence(of: self, by: increments).missing
        guard !missing.isEmpty, let trashed = await deleted() else { return }
        if !trashed.isEmpty {
            let broken = increments.filter { missing[$0.name] != nil }
            missing = Dependence(of: self + trashed, by: broken, listed: self).missing
        }
        for index in indices {
            self[index].missingNeed = missing[self[index].name].map { BackupName.display($0.name) }
        }
    }

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

extension Backup {
    /// How long one stays in the trash at least that others may be built on: another machine may be making one
    /// just now.
    package static let leastTrash = Duration.seconds(86_400)

    /// Whether others may be built on it.
    package var isInLineage: Bool { lineage != nil || isIncrement }

    /// Returns how long it stays in the trash if it is to stay for some time.
    package func trashTime(_ wanted: Duration) -> Duration {
        isInLineage ? max(wanted, Self.leastTrash) : wanted
    }

    /// Whether it needs no other, and is not known to be damaged.
    fileprivate var isWholeAndGood: Bool { !isIncrement && damage == nil }

    /// Returns whether both are of one moment of one lineage: then they hold the same.
    private func isTwin(of other: Backup) -> Bool {
        lineage != nil && lineage == other.lineage && number == other.number && time == other.time
            && name != other.name
    }

    fileprivate func isWhole(inPlaceOf increment: Backup) -> Bool {
        isWholeAndGood && increment.isIncrement && isTwin(of: increment)
    }
}

// An increment, and a whole backup that was made of it.
extension [Backup] {
    /// Returns the whole backup that was made of an increment.
    package func whole(inPlaceOf increment: Backup) -> Backup? {
        first { $0.isWhole(inPlaceOf: increment) }
    }

    /// Returns the increment that a whole backup was made of, if it is there still.
    package func increment(replacedBy whole: Backup) -> Backup? {
        first { whole.isWhole(inPlaceOf: $0) }
    }

    /// The same backups without increments in whose place there is a whole one.
    package var withoutReplaced: [Backup] {
        // Those that were made so are few.
        let wholes = filter { !$0.isIncrement && $0.number ?? 0 > 0 }
        guard !wholes.isEmpty else { return self }
        return filter { !$0.isIncrement || wholes.whole(inPlaceOf: $0) == nil }
    }
}
