internal import Files
internal import Foundation
internal import Remotes

/// The recent changes that this machine made in a folder, since some clouds list them late.
struct Deeds: Codable, Equatable {
    private static let limit = 50

    /// The names that it gave to backups and has not taken away, most recent last.
    private(set) var names: [String] = []
    /// The annotations that it wrote and has not read back since.
    private(set) var annotations: [BackupID: Annotation] = [:]

    /// The time, by name, at which it put a backup into the trash after encrypting it again under that name.
    ///
    /// In milliseconds since 1970-01-01 UTC; `nil` if there are none.
    private(set) var replaced: [ExactString: Int64]?

    /// The names in the trash of the backups that it deleted; `nil` if there are none.
    private(set) var trashed: Set<ExactString>?

    /// The names that those backups had.
    var trashedNames: Set<ExactString> {
        let files = (trashed ?? []).map { RemoteFile(name: $0.text, size: 0) }
        return Set(files.compactMap { TrashedBackup($0)?.name.exact })
    }

    /// Notes that it deleted a backup, which has a name in the trash.
    mutating func trash(_ name: String) { trashed = (trashed ?? []).union([name.exact]) }

    /// Forgets the deleted backups that are no longer in the trash.
    mutating func forgetTrashed(_ names: Set<ExactString>) {
        let left = trashed?.subtracting(names) ?? []
        trashed = left.isEmpty ? nil : left
    }

    /// Returns the reason to leave a deleted backup to others, unless this machine deleted it.
    ///
    /// The runs for another stores directory of this machine empty the trash of what is that one's.
    func reason(
        toLeave entry: TrashedBackup,
        _ reason: String?,
        of backup: Backup,
        _ origin: Origin?
    ) -> String? {
        guard trashed?.contains(entry.file.name.exact) ?? false else { return reason }
        return origin?.isSibling(of: backup) ?? false ? reason : nil
    }

    /// Returns whether the folder has the same backup as a deleted one under the same name, so that nothing needs that.
    func hasTwin(
        of entry: TrashedBackup,
        _ backup: Backup,
        among there: [ExactString: Backup]
    ) -> Bool {
        guard let twin = there[entry.name.exact], twin.damage == nil else { return false }
        return hasReplaced(entry) || backup.id != nil && backup.id == twin.id
    }

    mutating func give(_ name: String) {
        take(name)
        names.append(name)
        names.removeFirst(max(0, names.count - Self.limit))
    }

    /// Notes that the folder has a twin of a trashed backup under the same name.
    mutating func replace(_ name: String, at date: Date) {
        var all = replaced ?? [:]
        replaced = nil
        all[name.exact] = Self.milliseconds(date)
        replaced = all
    }

    /// Returns whether a twin replaced a deleted backup.
    func hasReplaced(_ entry: TrashedBackup) -> Bool {
        replaced?[entry.name.exact] == Self.milliseconds(entry.deleted)
    }

    /// Forgets the replacements of backups that are no longer in the trash.
    mutating func forgetReplaced(_ names: Set<ExactString>) {
        for name in names { replaced?[name] = nil }
        if replaced?.isEmpty ?? false { replaced = nil }
    }

    private static func milliseconds(_ date: Date) -> Int64 {
        Int64((date.timeIntervalSince1970 * 1000).rounded())
    }

    mutating func take(_ name: String) { names.removeAll { $0.exact == name.exact } }

    mutating func write(_ annotation: Annotation, of id: BackupID) { annotations[id] = annotation }

    /// Forgets annotations that the folder now shows.
    mutating func forget(_ ids: [BackupID]) {
        for id in ids { annotations[id] = nil }
    }
}
