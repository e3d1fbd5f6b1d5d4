internal import Files
package import History
package import Foundation

/// The tags, the note and the pin of one backup.
///
/// They are stored beside it in the remote folder, so that its archive does not change.
///
/// They also hold facts that another machine could learn only by fetching the archive.
package struct Annotation: Codable, Equatable, Sendable {
    /// The backup's file name at the time of writing, for a backup whose identity is unknown here.
    var name: String
    /// The time of the last change in milliseconds since 1970-01-01 UTC; the latest wins.
    var changed: Int64
    package var tags: [String] = []
    package var note: String?
    /// Whether only a command that names the backup removes it.
    package var isPinned = false
    /// The reason for a safety backup.
    var reason: String?
    /// Whether the backup is incomplete.
    var isPartial: Bool?
    /// The damage that checks found, by file name, since a copy of the backup may be undamaged.
    var damage: [String: Damage]?

    init(name: String, changed: Int64) {
        self.name = name
        self.changed = changed
    }

    /// Creates the annotation of a backup that has none yet.
    package init(of name: String, tags: [String], note: String?) {
        self.init(name: name, changed: 0)
        self.tags = tags
        self.note = note
    }

    /// The damage, and the check that found it.
    struct Damage: Codable, Equatable {
        var reason: String
        var depth: String
        var part: String?
        /// The time of that check in milliseconds since 1970-01-01 UTC; `nil` if an earlier version wrote this.
        var time: Int64?
        /// The size of the file in bytes; `nil` if an earlier version wrote this.
        var size: Int64?

        /// Returns `nil` for a check that found no damage.
        init?(_ check: RunLog.Check) {
            guard let damage = check.damage else { return nil }
            reason = damage
            depth = check.depth.rawValue
            part = check.part?.description
            time = check.time.milliseconds
            size = check.size
        }

        /// Returns the check; a newer version may write depths that this one does not know.
        func check(of backup: Backup) -> RunLog.Check {
            RunLog.Check(
                id: backup.key.rawValue,
                address: "",
                name: backup.name,
                time: Date(milliseconds: time ?? 0),
                depth: RunLog.Check.Depth(rawValue: depth) ?? .restore,
                part: part.map(RunLog.Check.Part.init),
                damage: reason,
                size: size
            )
        }

        /// Returns whether a backup's file may be the damaged one under another name.
        func mayBe(of backup: Backup) -> Bool { size ?? backup.size == backup.size }

        /// Returns whether a check that found no damage would have found this one.
        func isRefuted(by check: RunLog.Check) -> Bool {
            // A newer version may write depths that this one does not know.
            guard let depth = RunLog.Check.Depth(rawValue: depth) else { return false }
            if check.depth > depth { return true }
            if case .share = check.part { return false }
            return check.depth == depth && check.part?.description == part
        }

        func isRefuted(by checks: CheckHistory) -> Bool {
            checks.deepest.map { isRefuted(by: $0) } ?? false
        }

        /// Returns whether a later check found none: an earlier one may be of a file that has gone since.
        func isRefutedLater(by checks: CheckHistory) -> Bool {
            guard let time, let check = checks.deepest else { return false }
            return check.time.milliseconds > time && isRefuted(by: check)
        }
    }

    /// Returns the damage of one of the backup's files, as far as known.
    ///
    /// It was found in that file, or in a missing one that may have been renamed to it. The damage of a copy of the same
    /// size applies unless a check found this file undamaged, since the two may have exchanged names; that of a missing
    /// file applies unless a later check did. The damage of a file in the trash applies to no other.
    func damage(of backup: Backup, _ isCopy: (Backup, String) -> Bool) -> Damage? {
        damage?[backup.name]
            ?? damage?.first { name, damage in
                guard !TrashedBackup.isName(name), damage.mayBe(of: backup) else { return false }
                return isCopy(backup, name)
                    ? !damage.isRefuted(by: backup.checks)
                    : !damage.isRefutedLater(by: backup.checks)
            }?.value
    }

    /// Takes the damage of a file along to its new name, or drops it with the file.
    mutating func moveDamage(of name: String, to newName: String?) {
        guard let found = damage?.removeValue(forKey: name) else { return }
        if let newName { damage?[newName] = found }
        if damage?.isEmpty ?? false { damage = nil }
    }

    /// Applies the result of a check of one of the backup's files.
    ///
    /// - Parameters:
    ///   - check: the check.
    ///   - name: the file's name.
    ///   - copies: the other files that hold the backup, or may hold it.
    mutating func take(_ check: RunLog.Check, of name: String, copies: [Backup]) {
        var all = damage ?? [:]
        if let found = Damage(check) {
            all[name] = found
        } else {
            let own = all[name]
            let names = Set(copies.map(\.name.exact))
            all = all.filter { name, damage in
                names.contains(name.exact) || TrashedBackup.isName(name)
                    || !damage.isRefuted(by: check)
            }
            // The damaged file may have another name now.
            if let own, all[name] == nil {
                for copy in copies
                where all[copy.name] == nil && own.mayBe(of: copy)
                    && !own.isRefuted(by: copy.checks)
                {
                    all[copy.name] = own
                }
            }
        }
        damage = all.isEmpty ? nil : all
    }

    /// Applies damage that was found while reading all data of a backup's file.
    package mutating func takeDamage(
        _ reason: String,
        of backup: Backup,
        in address: String,
        at date: Date
    ) {
        let check = RunLog.Check(of: backup, in: address, at: date, depth: .data, damage: reason)
        take(check, of: backup.name, copies: [])
    }

    /// Merges two annotations of one backup.
    ///
    /// Tags and the note come from the newer one. A pin or damage in either is kept: a machine that had not read the
    /// other's annotation must not remove a reason to keep a backup.
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

extension RunLog.Check {
    /// Creates the record of a check of a backup's file in a folder.
    package init(
        of backup: Backup,
        in address: String,
        at date: Date,
        depth: Depth,
        part: Part? = nil,
        damage: String?
    ) {
        self.init(
            id: backup.key.rawValue,
            address: address,
            name: backup.name,
            time: date,
            depth: depth,
            part: part,
            damage: damage,
            size: backup.size
        )
    }
}
