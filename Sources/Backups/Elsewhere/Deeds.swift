internal import Foundation

/// What this machine did in a folder lately, since some clouds list it only after a while.
struct Deeds: Codable, Equatable {
    private static let limit = 50

    /// The names that it gave to backups and has not taken away, the last one last.
    private(set) var names: [String] = []
    /// The annotations that it wrote and has not read since.
    private(set) var annotations: [BackupID: Annotation] = [:]

    /// When it put each backup into the trash, by name, since it had encrypted it anew under that name: milliseconds
    /// since 1970-01-01 UTC; `nil` if it did none.
    private(set) var replaced: [String: Int64]?

    mutating func give(_ name: String) {
        take(name)
        names.append(name)
        names.removeFirst(max(0, names.count - Self.limit))
    }

    /// Notes that a backup in the trash has a twin under its name.
    mutating func replace(_ name: String, at date: Date) {
        replaced = (replaced ?? [:]).merging([name: Self.milliseconds(date)]) { $1 }
    }

    /// Returns whether a deleted backup was replaced by a twin.
    func hasReplaced(_ entry: TrashedBackup) -> Bool {
        replaced?[entry.name] == Self.milliseconds(entry.deleted)
    }

    /// Forgets that of backups that are not in the trash any more.
    mutating func forgetReplaced(_ names: [String]) {
        for name in names { replaced?[name] = nil }
        if replaced?.isEmpty ?? false { replaced = nil }
    }

    private static func milliseconds(_ date: Date) -> Int64 {
        Int64((date.timeIntervalSince1970 * 1000).rounded())
    }

    mutating func take(_ name: String) { names.removeAll { $0 == name } }

    mutating func write(_ annotation: Annotation, of id: BackupID) { annotations[id] = annotation }

    /// Forgets the annotations that others can read by now.
    mutating func forget(_ ids: [BackupID]) {
        for id in ids { annotations[id] = nil }
    }
}
