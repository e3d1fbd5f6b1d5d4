internal import Files
internal import Foundation
internal import Remotes

/// Backups that were removed and can come back for a while, in a hidden subfolder.
///
/// A file is called as the backup was, with the moment of its removal before it:
/// `20261121T090100.123Z [2026-Nov-20] 09.01 AM Stores.zip`.
struct Trash {
    /// A removed backup.
    struct Entry {
        var file: RemoteFile
        /// When it was removed.
        var removed: Date
        /// What it was called.
        var name: String

        fileprivate init?(_ file: RemoteFile) {
            var scanner = TextScanner(file.name)
            guard let date = scanner.number(digits: 8), scanner.take("T"),
                let time = scanner.number(digits: 6), scanner.take("."),
                let millisecond = scanner.number(digits: 3), scanner.take("Z ")
            else { return nil }
            let moment = Timestamp.date(
                of: Timestamp.Parts(
                    year: date / 10_000,
                    month: date / 100 % 100,
                    day: date % 100,
                    hour: time / 10_000,
                    minute: time / 100 % 100,
                    second: time % 100,
                    millisecond: millisecond,
                    offset: 0
                )
            )
            guard let moment else { return nil }
            self.file = file
            removed = moment
            name = scanner.remainder
        }
    }

    static let subfolder = ".grocerydude-trash"

    let remote: any RemoteFolder

    /// What is there, what was removed last coming first.
    func entries() async throws -> [Entry] {
        try await remote.list(in: Self.subfolder).compactMap(Entry.init)
            .sorted { $0.removed > $1.removed }
    }

    /// Removes a backup, so that it can come back.
    ///
    /// - Throws: `RemoteError`; it is where it was then, or in the trash.
    func put(_ name: String, at date: Date) async throws {
        let stamp = Timestamp.rfc3339(date, in: .gmt).filter { $0 != "-" && $0 != ":" }
        try await remote.move(name, to: "\(Self.subfolder)/\(stamp) \(name)")
    }

    /// Puts a removed backup back.
    ///
    /// - Throws: `RemoteError.exists` where its name is taken.
    func takeOut(_ entry: Entry) async throws {
        try await remote.move("\(Self.subfolder)/\(entry.file.name)", to: entry.name)
    }

    /// Removes for good what was removed before a moment, each for itself.
    ///
    /// - Returns: what it was, and what could not be removed.
    func empty(before date: Date) async throws -> (removed: [Entry], problems: [Problem]) {
        var removed: [Entry] = []
        var problems: [Problem] = []
        for entry in try await entries() where entry.removed < date {
            let path = "\(Self.subfolder)/\(entry.file.name)"
            do {
                let problem = try await RemoteError.problem { try await remote.delete(path) }
                removed.append(entry)
                problems += problem.map { [$0] } ?? []
            } catch {
                problems.append(Problem(kind: .notRemoved, path: path, reason: explain(error)))
            }
        }
        return (removed, problems)
    }
}
