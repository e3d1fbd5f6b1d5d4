internal import Files
internal import Foundation
internal import History

/// The dependences between the backups of a folder: a backup cannot be restored without the backups that it needs.
package struct Dependence {
    /// The backups that are known to need a backup, by its name.
    private var known: [ExactString: [Backup]] = [:]
    /// The backups that may need a backup, since its content is unknown, by its name.
    private var guessed: [ExactString: [Backup]] = [:]
    /// The increments whose needs are unknown.
    private let silent: SilentIncrements
    /// The last needed backup that is missing or damaged, by the increment's name, unless another can take its place.
    private(set) var lacks: [ExactString: Lack] = [:]
    /// A needed backup without a trusted signature, by the increment's name, unless another can take its place.
    private(set) var distrusted: [ExactString: Backup] = [:]

    /// Determines which backups need others.
    ///
    /// If no known backup is the one that an increment needs, every backup that may be it is possibly needed. This
    /// protects such a backup from deletion, and the increment lacks what it needs all the same.
    /// - Parameters:
    ///   - backups: the backups that may be needed.
    ///   - others: the backups that may need them; usually all.
    ///   - listed: the backups of the folder, if they differ from `backups`. A full backup among them replaces an
    ///     increment of the same moment. If one of them is the needed backup, no other is taken for it.
    ///   - trustsNames: whether times from names and files can rule out a need. Such times may be wrong: they are good
    ///     enough for keeping a backup, but not for deleting one.
    package init(
        of backups: [Backup],
        by others: [Backup],
        listed: [Backup]? = nil,
        trustingNames trustsNames: Bool = true
    ) {
        let byName = Dictionary(grouping: backups, by: \.name.exact)
        let byNumber = Dictionary(grouping: backups.filter { $0.lineage != nil }, by: Place.init)
        let unknown = UnknownBackups(backups)
        let namesakes = Dictionary(grouping: listed ?? [], by: \.name.exact)
        let places = Dictionary(
            grouping: (listed ?? []).filter { $0.lineage != nil },
            by: Place.init
        )
        let wholes = Dictionary(
            grouping: (listed ?? backups).filter { $0.lineage != nil && $0.isWholeAndGood },
            by: Place.init
        )
        silent = SilentIncrements(others, trustingNames: trustsNames)
        for other in others where other.isIncrement {
            for need in other.needs.reversed() {
                let named = (byName[need.name.exact] ?? []).filter { $0.size == need.size }
                let place = Place(lineage: other.lineage, number: need.number)
                let time = Timestamp.date(rfc3339: need.created)
                let alike = (byNumber[place] ?? []).filter { $0.time == time }
                // A full backup in its place is sufficient, and needs no earlier one.
                let isWhole = (wholes[place] ?? []).contains {
                    $0.time == time && Self.mayReplace($0, anyOf: other)
                }
                var found = Self.trusted(
                    (named + alike).filter { !isWhole || $0.isWholeAndGood },
                    for: other
                )
                // A deleted backup is not needed if the folder has its twin.
                let twins = (places[place] ?? []) + (namesakes[need.name.exact] ?? [])
                let isListed = twins.contains {
                    (found.isEmpty || $0.damage == nil) && Self.mayReplace($0, anyOf: other)
                        && $0.likeness(to: need, of: other.lineage)?.isKnown ?? false
                }
                if isListed { found = [] }
                let isGuess = found.isEmpty && !isWhole && !isListed
                if isGuess { found = unknown.like(need, of: other.lineage) }
                if isGuess || !found.isEmpty && Self.mayHit(other, damageOf: found) {
                    let lack = Lack(need, instead: found, isGuess: isGuess)
                    lacks[other.name.exact] = lacks[other.name.exact] ?? lack
                }
                if !isGuess, let first = found.first, found.allSatisfy(\.isKnownAsDistrusted) {
                    distrusted[other.name.exact] = first
                }
                note(other, among: isGuess ? \.guessed : \.known, needing: found)
                if isWhole || found.contains(where: { $0.isWholeAndGood && $0.lineage != nil }) {
                    break
                }
            }
        }
    }

    /// Returns whether a backup may take the place of one of an increment's lineage: a known machine made it, if one made
    /// the increment.
    fileprivate static func mayReplace(_ backup: Backup, anyOf increment: Backup) -> Bool {
        !backup.isKnownAsDistrusted || increment.isKnownAsDistrusted
    }

    /// Records that an increment needs one of some backups, or may need it.
    private mutating func note(
        _ increment: Backup,
        among needs: WritableKeyPath<Self, [ExactString: [Backup]]>,
        needing found: [Backup]
    ) {
        for name in Set(found.map(\.name.exact)).subtracting([increment.name.exact]) {
            self[keyPath: needs][name, default: []].append(increment)
        }
    }

    /// Returns the backups that a known machine made, or all if there is none of these.
    private static func trusted(_ backups: [Backup], for increment: Backup) -> [Backup] {
        let trusted = backups.filter { mayReplace($0, anyOf: increment) }
        return trusted.isEmpty ? backups : trusted
    }

    /// Returns whether damage of all backups that may be the needed one may hit an increment.
    ///
    /// A later check of the increment, which found it whole, shows that it does not.
    private static func mayHit(_ increment: Backup, damageOf needs: [Backup]) -> Bool {
        needs.allSatisfy { need in
            guard need.archiveDamage != nil else { return false }
            guard !need.isCutOff, !need.isUnreadable, let found = need.checks.damaged,
                let own = increment.checks.deepest, own.depth >= .data
            else { return true }
            return own.time <= found.time
        }
    }

    /// A backup that an increment needs, and that cannot be relied on.
    package struct Lack: Sendable, Equatable {
        /// The state of the needed backup.
        enum State: String, Sendable {
            /// It is neither in the folder nor in its trash, as far as known.
            case gone
            case damaged
            /// Another file has its name, and was not looked at.
            case changed = "not as it was"
        }

        /// The name as displayed.
        var name: String
        var state: State
        /// Whether it may be in an unknown trash.
        package var isGone: Bool { state == .gone }

        /// Describes what takes the place of a needed backup.
        fileprivate init(_ need: Need, instead found: [Backup], isGuess: Bool) {
            let shown = BackupName.display(need.name)
            name = shown
            let namesakes = found.filter {
                !isGuess || BackupName.display($0.name).exact == shown.exact
            }
            let isDamaged = namesakes.contains { $0.archiveDamage != nil }
            state = isDamaged ? .damaged : namesakes.isEmpty ? .gone : .changed
        }
    }

    /// A backup's place in its lineage.
    fileprivate struct Place: Hashable {
        var lineage: String?
        var number: Int?

        init(lineage: String?, number: Int?) {
            self.lineage = lineage
            self.number = number
        }

        init(_ backup: Backup) { self.init(lineage: backup.lineage, number: backup.number) }
    }

    /// Returns the backups that need a given one, or may need it, newest first.
    package func dependants(of backup: Backup) -> [Backup] {
        let sure = known[backup.name.exact] ?? []
        let names = Set(sure.map(\.name.exact))
        return (sure + possibleDependants(of: backup).filter { !names.contains($0.name.exact) })
            .newestFirst
    }

    /// Returns the newest backup that needs a given one, or may need it, among those for which the closure returns
    /// `true`.
    package func newestDependant(of backup: Backup, where counts: (Backup) -> Bool) -> Backup? {
        let sure = (known[backup.name.exact] ?? []) + (guessed[backup.name.exact] ?? [])
        let found = [sure.filter(counts).newest, silent.newest(mayNeed: backup, where: counts)]
        return found.compactMap(\.self).newest
    }

    /// Returns the backups that are known to need a given one, newest first.
    package func knownDependants(of backup: Backup) -> [Backup] {
        (known[backup.name.exact] ?? []).newestFirst
    }

    /// Returns the backups that may need a given one, since their needs or its content are unknown, newest first.
    package func possibleDependants(of backup: Backup) -> [Backup] {
        ((guessed[backup.name.exact] ?? []) + silent.all(mayNeed: backup)).newestFirst
    }
}

extension [Backup] {
    /// Marks the increments that cannot be restored because a backup that they need is missing or damaged, and those that
    /// do not count because a backup that they need does not.
    ///
    /// An unknown backup that may be the needed one counts as it only once it was looked at.
    /// - Parameter deleted: returns the backups in the trash; `nil` if they are unknown. It is called only if a needed
    ///   backup is missing or damaged.
    mutating func markIncomplete(deleted: () async -> [Backup]?) async {
        let increments = filter(\.isIncrement)
        guard !increments.isEmpty else { return }
        let dependence = Dependence(of: self, by: increments)
        for index in indices where self[index].distrust == nil {
            guard let base = dependence.distrusted[self[index].name.exact] else { continue }
            self[index].distrust(base: base)
        }
        var lacks = dependence.lacks
        if lacks.isEmpty { return }
        let trashed = await deleted()
        if let trashed, !trashed.isEmpty {
            let broken = increments.filter { lacks[$0.name.exact] != nil }
            lacks = Dependence(of: self + trashed, by: broken, listed: self).lacks
        }
        for index in indices {
            let lack = lacks[self[index].name.exact]
            // An unknown trash may have it.
            self[index].lack = trashed == nil && lack?.isGone == true ? nil : lack
        }
    }

    /// Returns some of these backups and all backups that they need, in this list's order.
    package func withNeeds(of backups: [Backup]) -> [Backup] {
        var names = Set(backups.map(\.name.exact))
        let needs = Dependence(of: self, by: backups)
        for backup in self where needs.newestDependant(of: backup, where: { _ in true }) != nil {
            names.insert(backup.name.exact)
        }
        return filter { names.contains($0.name.exact) }
    }

    /// The same backups, each before the backups that it needs.
    package var dependantsFirst: [Backup] {
        enumerated().sorted {
            ($1.element.needs.count, $0.offset) < ($0.element.needs.count, $1.offset)
        }
        .map(\.element)
    }
}

extension Backup {
    /// The minimum time in the trash for a backup that others may be built on, since another machine may be making such
    /// a backup now.
    package static let leastTrash = Duration.seconds(86_400)

    /// Whether others may be built on it.
    package var isInLineage: Bool { lineage != nil || isIncrement }

    /// Returns its time in the trash, given the wanted one.
    package func trashTime(_ wanted: Duration) -> Duration {
        isInLineage ? max(wanted, Self.leastTrash) : wanted
    }

    /// Whether it needs no other backup, and is not known to be damaged.
    fileprivate var isWholeAndGood: Bool { !isIncrement && damage == nil }

    /// Returns whether both backups are of the same moment and lineage, so that they hold the same.
    private func isTwin(of other: Backup) -> Bool {
        lineage != nil && lineage == other.lineage && number == other.number && time == other.time
            && name.exact != other.name.exact
    }

    fileprivate func isWhole(inPlaceOf increment: Backup) -> Bool {
        isWholeAndGood && increment.isIncrement && isTwin(of: increment)
            && Dependence.mayReplace(self, anyOf: increment)
    }
}

// An increment, and the full backup that was made from it.
extension [Backup] {
    /// Returns the full backup that was made from an increment.
    package func whole(inPlaceOf increment: Backup) -> Backup? {
        first { $0.isWhole(inPlaceOf: increment) }
    }

    /// Returns the increment that a full backup was made from, if it still exists.
    package func increment(replacedBy whole: Backup) -> Backup? {
        first { whole.isWhole(inPlaceOf: $0) }
    }

    /// The same backups without the increments that a full backup replaces.
    package var withoutReplaced: [Backup] {
        // Full backups that were made from increments are few.
        let wholes = Dictionary(
            grouping: filter { !$0.isIncrement && $0.number ?? 0 > 0 },
            by: Dependence.Place.init
        )
        guard !wholes.isEmpty else { return self }
        return filter { !$0.isIncrement || wholes[.init($0)]?.whole(inPlaceOf: $0) == nil }
    }
}
