public import Backups
public import Foundation

/// Some of a folder's backups, in an order.
public struct BackupSelection: Sendable {
    /// The orders.
    public enum Order: String, Sendable, CaseIterable {
        /// The newest first; those of unknown time last.
        case time
        /// By the file's name, from A to Z.
        case name
        /// The largest first.
        case size
    }

    public var order = Order.time
    public var isReversed = false
    /// Only those that were made at this moment or later, as far as their time is known.
    public var since: Date?
    /// Only those that have all tags of one of these lists; "" asks for a backup without any.
    public var tags: [[String]] = []

    public init() {}

    /// Returns the backups that are wanted, in the order that is wanted.
    public func callAsFunction(_ backups: [Backup]) -> [Backup] {
        let wanted = backups.filter { backup in
            if let since, backup.time.map({ $0 < since }) ?? true { return false }
            return tags.isEmpty || tags.contains { backup.hasTags($0) }
        }
        let time = BackupOrder(of: backups)
        let sorted = wanted.sorted { left, right in
            switch order {
            case .time: time.isNewer(left, right)
            case .name: left.name < right.name
            case .size:
                left.size == right.size ? time.isNewer(left, right) : left.size > right.size
            }
        }
        return isReversed ? sorted.reversed() : sorted
    }
}

extension Backup {
    /// Whether it has all of some tags.
    fileprivate func hasTags(_ wanted: [String]) -> Bool {
        wanted.allSatisfy { $0.isEmpty ? tags.isEmpty : tags.contains($0) }
    }
}
