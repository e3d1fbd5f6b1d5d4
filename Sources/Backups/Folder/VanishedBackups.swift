package import Foundation

/// Backups that have gone from their folder, and that no run on this machine took away.
package struct VanishedBackups {
    private let names: [String]
    private let lastSeen: Date

    /// Says when they were there last, and which they are.
    package func warning(in timeZone: TimeZone) -> String {
        let first = names.prefix(3).map { "'\(BackupName.display($0))'" }.joined(separator: ", ")
        let more = names.count > 3 ? " and \(names.count - 3) more" : ""
        let day = Timestamp.rfc3339(lastSeen, in: timeZone).prefix(10)
        let count = names.count == 1 ? "1 backup is" : "\(names.count) backups are"
        return
            "\(count) gone that \(names.count == 1 ? "was" : "were") here on \(day): \(first)\(more)"
    }

    fileprivate init?(_ seen: [String: Date]) {
        guard let last = seen.values.max() else { return nil }
        names = seen.keys.sorted()
        lastSeen = last
    }
}

extension BackupFolder {
    /// Returns the backups that have gone by other hands since this machine saw them; `nil` for none.
    ///
    /// They are told for 30 days after that. Those in the trash were removed by another machine of ours.
    /// The folder was listed before.
    package func vanished() async -> VanishedBackups? {
        let seen = memory.catalog.vanished(from: address)
        guard !seen.isEmpty else { return nil }
        let trashed = Set((try? await trash.entries().map(\.name)) ?? [])
        for name in trashed.intersection(seen.keys) {
            memory.catalog.remember(name, isTaken: true, in: address)
        }
        return VanishedBackups(seen.filter { !trashed.contains($0.key) })
    }
}
