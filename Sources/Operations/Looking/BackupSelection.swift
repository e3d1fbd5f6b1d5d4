public import Backups
internal import Files
public import Foundation

/// A filter and a sort order for a folder's backups.
public struct BackupSelection: Sendable {
    /// The sort orders.
    public enum Order: String, Sendable, CaseIterable {
        /// The newest first; backups of unknown time last.
        case time
        /// By the file's name, from A to Z.
        case name
        /// The largest first.
        case size
    }

    public var order = Order.time
    /// Only backups made at or after this time; backups of unknown time do not match.
    public var since: Date?
    /// Only backups that have all tags of one of these lists; "" matches a backup without tags.
    public var tags: [[String]] = []

    /// Only backups of the origin with this name.
    public var origin: String?

    public init() {}

    /// Returns the selected backups in the selected order.
    public func callAsFunction(_ backups: [Backup]) -> [Backup] {
        let wanted = backups.filter { backup in
            if let since, backup.time.map({ $0 < since }) ?? true { return false }
            if let origin, backup.originName.map({ $0.exact != origin.exact }) ?? true {
                return false
            }
            return tags.isEmpty || tags.contains { backup.hasTags($0) }
        }
        let time = BackupOrder(of: backups)
        return wanted.sorted { left, right in
            switch order {
            case .time: time.isNewer(left, right)
            case .name: left.name < right.name
            case .size:
                left.size == right.size ? time.isNewer(left, right) : left.size > right.size
            }
        }
    }
}

extension Backup {
    /// Whether the backup has all of some tags.
    fileprivate func hasTags(_ wanted: [String]) -> Bool {
        wanted.allSatisfy { $0.isEmpty ? tags.isEmpty : tags.contains($0) }
    }
}
