public import Backups
internal import Files
public import Foundation

/// The bytes that backups take, by kind, month, store and table, and those that one more year will take.
///
/// Everything is from the sizes of archives and from what is remembered of their manifests; no archive is opened.
public struct FolderGrowth: Sendable {
    /// A number of backups and the sizes of their archives.
    public struct Sum: Sendable, Equatable {
        public var backups = 0
        public var bytes: Int64 = 0

        fileprivate mutating func add(_ backup: Backup) {
            backups += 1
            bytes = bytes.addingSaturated(backup.size)
        }
    }

    /// The backups of a month in local time.
    public struct Month: Sendable, Equatable {
        /// The year and the month: `2026-11`.
        public var name: String
        public var sum = Sum()
    }

    /// A store, or the rows of a table: its amount in the newest backup that says it, and in the oldest.
    public struct Trend: Sendable, Equatable {
        /// The store's path, printable.
        public var store: String
        /// The table; `nil` for the bytes of the store.
        public var table: String?
        public var newest: Int64
        public var oldest: Int64
        public var since: Date
    }

    /// The expected growth in a year.
    public struct Year: Sendable, Equatable {
        public enum Basis: String, Sendable {
            /// Nothing is pruned: as many bytes are written each day as in the time.
            case written
            /// A policy keeps as many full backups as there are, and each grows as in the time.
            case grown
        }

        public var basis: Basis
        public var bytes: Int64
        /// The bytes of a day on which it is based.
        public var perDay: Int64
        /// The beginning of the time on which it is based, until the newest backup.
        public var since: Date
        /// The number of backups that were written, or that grow.
        public var backups: Int
    }

    /// The longest time before the newest backup from which a year is estimated, in seconds.
    private static let longestBasis: TimeInterval = 365 * 86_400
    /// The shortest such time.
    private static let shortestBasis: TimeInterval = 86_400
    /// The maximum numbers of months, of stores and tables each, and of the largest backups.
    private static let limits = (months: 12, trends: 8, largest: 5)

    public private(set) var full = Sum()
    public private(set) var increments = Sum()
    /// The newest months with backups, newest first.
    public private(set) var months: [Month] = []
    /// The backups before these months, and those of unknown time.
    public private(set) var older = Sum()
    /// The largest backups, the largest first.
    public private(set) var largest: [Backup] = []
    /// The largest stores and the largest tables of the own backups.
    public private(set) var trends: [Trend] = []
    /// The growth in a year; `nil` if there are no backups that are a day apart.
    public private(set) var year: Year?

    /// Measures backups.
    ///
    /// - Parameters:
    ///   - backups: all backups, newest first.
    ///   - own: those of one origin, for trends and the estimate.
    ///   - isPruned: whether a policy removes backups.
    ///   - now: the present time; backups from the future have no part in trends and the estimate.
    ///   - timeZone: the zone of the months.
    public init(
        of backups: [Backup],
        own: [Backup],
        isPruned: Bool,
        now: Date,
        in timeZone: LocalZone
    ) {
        var months: [String: Sum] = [:]
        for backup in backups {
            if backup.isIncrement { increments.add(backup) } else { full.add(backup) }
            guard let time = backup.time else {
                older.add(backup)
                continue
            }
            let parts = Timestamp.parts(of: time, in: timeZone)
            let name = "\(Timestamp.pad(parts.year, 4))-\(Timestamp.pad(parts.month, 2))"
            months[name, default: Sum()].add(backup)
        }
        let names = months.keys.sorted(by: >)
        self.months = names.prefix(Self.limits.months).map {
            Month(name: $0, sum: months[$0] ?? Sum())
        }
        for name in names.dropFirst(Self.limits.months) {
            older.backups += months[name]?.backups ?? 0
            older.bytes = older.bytes.addingSaturated(months[name]?.bytes ?? 0)
        }
        largest = Array(backups.sorted { $0.size > $1.size }.prefix(Self.limits.largest))
        let good = own.ordinary.notFromFuture(now).filter {
            $0.archiveDamage == nil && $0.ownTime != nil
        }
        trends = Self.stores(of: good) + Self.tables(of: good)
        year = isPruned ? Self.grown(good) : Self.written(good)
    }

    // MARK: - Stores and tables

    private static func stores(of backups: [Backup]) -> [Trend] {
        let known = backups.lazy.compactMap { backup in
            backup.ownTime.flatMap { time in
                backup.summary.extent.map { (time: time, stores: $0.stores) }
            }
        }.filter { !$0.stores.isEmpty }
        guard let newest = known.first, let oldest = known.last else { return [] }
        let before = Dictionary(oldest.stores.map { ($0.path.exact, $0.bytes) }) { first, _ in first
        }
        return newest.stores.prefix(limits.trends).map { store in
            Trend(
                store: store.path,
                newest: store.bytes,
                oldest: before[store.path.exact] ?? 0,
                since: oldest.time
            )
        }
    }

    private static func tables(of backups: [Backup]) -> [Trend] {
        TableTrend.trends(of: backups).prefix(limits.trends).compactMap { trend in
            guard let first = trend.points.first, let last = trend.points.last else { return nil }
            return Trend(
                store: trend.store,
                table: trend.table,
                newest: last.rows,
                oldest: first.rows,
                since: first.time
            )
        }
    }

    // MARK: - A year

    /// Returns the newest of some backups, and the oldest in the time for an estimate; `nil` if they are too close.
    private static func ends(_ backups: [Backup]) -> (count: Int, since: Date, days: Double)? {
        guard let newest = backups.first?.ownTime else { return nil }
        let within = backups.prefix {
            newest.timeIntervalSince($0.ownTime ?? newest) <= longestBasis
        }
        guard let oldest = within.last?.ownTime else { return nil }
        let span = newest.timeIntervalSince(oldest)
        return span >= shortestBasis ? (within.count, oldest, span / 86_400) : nil
    }

    private static func written(_ backups: [Backup]) -> Year? {
        guard let (count, since, days) = ends(backups) else { return nil }
        // What the first one wrote belongs to the time before.
        let written = backups.prefix(count - 1).reduce(0.0) { $0 + Double($1.size) }
        return Year(
            basis: .written,
            bytes: bounded(written / days * 365),
            perDay: bounded(written / days),
            since: since,
            backups: count - 1
        )
    }

    private static func grown(_ backups: [Backup]) -> Year? {
        let full = backups.filter { !$0.isIncrement }
        guard let (count, since, days) = ends(full) else { return nil }
        let growth = (Double(full[0].size) - Double(full[count - 1].size)) / days
        return Year(
            basis: .grown,
            bytes: bounded(growth * 365 * Double(full.count)),
            perDay: bounded(growth),
            since: since,
            backups: full.count
        )
    }

    private static func bounded(_ number: Double) -> Int64 {
        Int64(min(max(number.rounded(), -9e18), 9e18))
    }
}
