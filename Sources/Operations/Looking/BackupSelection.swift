internal import Archives
public import Backups
internal import Files
public import Foundation

/// A filter for a folder's backups.
public struct BackupSelection: Sendable {
    /// Only backups made at or after this time; backups of unknown time do not match.
    public var since: Date?
    /// Only backups that have all tags of one of these lists; "" matches a backup without tags.
    public var tags: [[String]] = []

    /// Only backups of the origin with this name.
    public var origin: String?

    public init() {}

    /// Returns the selected backups, newest first; backups of unknown time are last.
    public func callAsFunction(_ backups: [Backup]) -> [Backup] {
        backups.filter { backup in
            if let since, backup.time.map({ $0 < since }) ?? true { return false }
            if let origin, backup.originName.map({ $0.exact != origin.exact }) ?? true {
                return false
            }
            return tags.isEmpty || tags.contains { backup.hasTags($0) }
        }.newestFirst
    }
}

extension Backup {
    /// Whether the backup has all of some tags.
    fileprivate func hasTags(_ wanted: [String]) -> Bool {
        wanted.allSatisfy { $0.isEmpty ? tags.isEmpty : tags.contains($0) }
    }
}

extension OperationContext {
    /// Finds the backups that contain a file or a directory, in the directory and the manifest of each.
    ///
    /// - Parameters:
    ///   - path: the path of the file or the directory, as it is printed.
    ///   - folder: the backups' folder.
    ///   - backups: the backups to search.
    /// - Returns: the backups that contain the path, in the given order, and those that could not be read.
    /// - Throws: `CancellationError`.
    public func backups(
        containing path: String,
        in folder: BackupFolder,
        among backups: [Backup]
    ) async throws -> (backups: [Backup], problems: [Problem]) {
        let wanted = NamedPaths([path])
        var found: (backups: [Backup], problems: [Problem]) = ([], [])
        for backup in backups {
            try checkCancellation()
            do {
                let isThere = try await look(at: backup, in: folder.home(of: backup)) {
                    try $0.contains(wanted)
                }
                if isThere { found.backups.append(backup) }
            } catch  where !(error is CancellationError) {
                found.problems.append(Problem(unreadable: backup.name, explain(error)))
            }
        }
        return found
    }
}

/// A signal that the path was found, so that reading can stop.
private struct Found: Error {}

extension ArchivedBackup {
    fileprivate func contains(_ paths: NamedPaths) throws -> Bool {
        do {
            try forEach { if paths.match($0.attributes.path) != nil { throw Found() } }
            return false
        } catch is Found {
            return true
        }
    }
}
