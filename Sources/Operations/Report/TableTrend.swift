package import Backups
public import Foundation

/// The rows of one table in the backups of one origin over time.
public struct TableTrend: Sendable {
    /// The number of rows in one backup.
    public struct Point: Sendable, Equatable {
        public var time: Date
        public var rows: Int64
        /// The backup's file name.
        public var backup: String
    }

    /// A sudden change from one backup to the next.
    public struct Jump: Sendable, Equatable {
        public var before: Point
        public var after: Point

        /// The change in percent of the rows before; `nil` if there were none.
        public var percent: Double? {
            before.rows == 0
                ? nil : 100 * (Double(after.rows) - Double(before.rows)) / Double(before.rows)
        }
    }

    /// A change is a jump if it is at least this share of the rows before, and this number of rows.
    ///
    /// A table that has just begun grows by large shares.
    private static let lostShare = 0.25
    private static let gainedShare = 0.5
    private static let jumpRows: Double = 20

    public var store: String
    public var table: String
    /// The points, oldest first.
    public var points: [Point]

    /// Returns the trends of the largest tables in some backups of one origin, which are sorted newest first.
    package static func trends(of backups: [Backup]) -> [TableTrend] {
        let known = backups.compactMap { backup in
            backup.ownTime.flatMap { time in backup.summary.extent.map { (backup, time, $0) } }
        }
        guard let newest = known.first?.2.tables else { return [] }
        var trends = newest.map { TableTrend(store: $0.store, table: $0.name, points: []) }
        let places = Dictionary(
            zip(newest.map(\.key), newest.indices),
            uniquingKeysWith: { first, _ in first }
        )
        for (backup, time, extent) in known.reversed() {
            for table in extent.tables {
                guard let index = places[table.key] else { continue }
                trends[index].points.append(
                    Point(time: time, rows: table.rows, backup: backup.name)
                )
            }
        }
        return trends
    }

    /// The sudden changes, oldest first.
    public var jumps: [Jump] {
        zip(points, points.dropFirst()).compactMap { before, after in
            let change = Double(after.rows) - Double(before.rows)
            let share = change < 0 ? Self.lostShare : Self.gainedShare
            let least = max(Self.jumpRows, share * Double(before.rows))
            return abs(change) >= least ? Jump(before: before, after: after) : nil
        }
    }
}

extension BackupExtent.Table {
    fileprivate var key: [String] { [store, name] }
}
