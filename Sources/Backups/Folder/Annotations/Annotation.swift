internal import History
package import Foundation

/// Tags, note and pin of one backup, beside it in the remote folder, so that its archive stays as it is.
///
/// Facts that no other machine could know without fetching the archive are here too.
package struct Annotation: Codable, Equatable, Sendable {
    /// The backup's file name when this was written, for a backup whose identity is not known here.
    var name: String
    /// The moment of the last change: milliseconds since 1970-01-01 UTC; the latest counts.
    var changed: Int64
    package var tags: [String] = []
    package var note: String?
    /// Whether the backup is removed only by name.
    package var isPinned = false
    /// The reason of a safety backup.
    var reason: String?
    /// Whether the backup was made in part only.
    var isPartial: Bool?
    /// Damage that checks found, by the file's name: a copy of the backup may be whole.
    var damage: [String: Damage]?

    init(name: String, changed: Int64) {
        self.name = name
        self.changed = changed
    }

    /// Describes a backup that has no annotation yet.
    package init(of name: String, tags: [String], note: String?) {
        self.init(name: name, changed: 0)
        self.tags = tags
        self.note = note
    }

    /// Damage, and the check that found it.
    struct Damage: Codable, Equatable {
        var reason: String
        var depth: String
        var part: String?

        /// `nil` for a check that found the backup whole.
        init?(_ check: RunLog.Check) {
            guard let damage = check.damage else { return nil }
            reason = damage
            depth = check.depth.rawValue
            part = check.part?.description
        }

        /// Returns whether a check that found the backup whole would have found this damage.
        func isRefuted(by check: RunLog.Check) -> Bool {
            // A newer version may know depths beyond ours.
            guard let depth = RunLog.Check.Depth(rawValue: depth) else { return false }
            if check.depth > depth { return true }
            if case .share = check.part { return false }
            return check.depth == depth && check.part?.description == part
        }

        func isRefuted(by checks: CheckHistory) -> Bool {
            checks.deepest.map { isRefuted(by: $0) } ?? false
        }
    }

    /// Returns the damage of one of the backup's files, as far as it is known.
    ///
    /// It was found in that file, or in one that is gone and was renamed to it. A copy's is its own only
    /// if a check found this file whole: they may have changed names.
    func damage(of backup: Backup, _ isCopy: (Backup, String) -> Bool) -> Damage? {
        damage?[backup.name]
            ?? damage?.first { name, damage in
                !isCopy(backup, name) || !damage.isRefuted(by: backup.checks)
            }?.value
    }

    /// Takes the result of a check of one of the backup's files.
    ///
    /// - Parameters:
    ///   - check: the check.
    ///   - name: the file's name.
    ///   - copies: the other files that hold the backup, or may.
    mutating func take(_ check: RunLog.Check, of name: String, copies: [Backup]) {
        var all = damage ?? [:]
        if let found = Damage(check) {
            all[name] = found
        } else {
            let own = all[name]
            let names = Set(copies.map(\.name))
            all = all.filter { names.contains($0.key) || !$0.value.isRefuted(by: check) }
            // The file that it was found in may be called otherwise now.
            if let own, all[name] == nil {
                for copy in copies where all[copy.name] == nil && !own.isRefuted(by: copy.checks) {
                    all[copy.name] = own
                }
            }
        }
        damage = all.isEmpty ? nil : all
    }

    /// Takes damage that was found while all data of a backup's file was read.
    package mutating func takeDamage(
        _ reason: String,
        of backup: Backup,
        in address: String,
        at date: Date
    ) {
        let check = RunLog.Check(
            id: backup.key.rawValue,
            address: address,
            name: backup.name,
            time: date,
            depth: .data,
            damage: reason
        )
        take(check, of: backup.name, copies: [])
    }

    /// Returns what two records of one backup say together.
    ///
    /// The newer one has the tags and the note. A pin and damage are those of either: a machine that had
    /// not read the other's record takes away nothing that keeps a backup.
    func merged(with other: Annotation) -> Annotation {
        let (older, newer) = changed < other.changed ? (self, other) : (other, self)
        var merged = newer
        merged.isPinned = newer.isPinned || older.isPinned
        merged.reason = newer.reason ?? older.reason
        merged.isPartial = newer.isPartial ?? older.isPartial
        let damage = (older.damage ?? [:]).merging(newer.damage ?? [:]) { $1 }
        merged.damage = damage.isEmpty ? nil : damage
        return merged
    }

    private enum CodingKeys: String, CodingKey {
        case name, changed, tags, note, reason, damage
        case isPinned = "pinned"
        case isPartial = "partial"
    }
}
