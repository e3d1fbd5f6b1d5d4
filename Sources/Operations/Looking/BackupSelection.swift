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
