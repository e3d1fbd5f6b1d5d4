internal import Files
internal import Foundation

/// How many rows a store has.
public struct StoreRows: Codable, Sendable, Equatable {
    /// The store's path, printable.
    public var path: String
    /// In all its tables; `nil` where they could not be counted.
    public var rows: Int64?

    /// Counts a store of a manifest.
    ///
    /// SQLite's own tables are left out: its statistics and counters come and go.
    init(_ store: ManifestHeader.StoreRecord) {
        path = store.path
        rows = store.tables.filter { !$0.name.hasPrefix("sqlite_") }
            .reduce(Int64(0) as Int64?) { sum, table in
                guard let sum, let rows = table.rows else { return nil }
                return sum.addingSaturated(rows)
            }
    }

    init(path: String, rows: Int64?) {
        self.path = path
        self.rows = rows
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        path = try values.decode(String.self, forKey: .path)
        rows = try values.decodeRows(forKey: .rows)
    }
}

extension KeyedDecodingContainer {
    /// A count of rows; `nil` where there is none, and where it is negative and so counts nothing.
    ///
    /// An archive is not refused for it: nothing that is said of rows is needed to restore.
    func decodeRows(forKey key: Key) throws -> Int64? {
        try decodeIfPresent(Int64.self, forKey: key).flatMap { $0 < 0 ? nil : $0 }
    }
}

/// Something that a backup has much less of than the one before.
public struct Anomaly: Codable, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of anomaly; an archive of a newer version may have others.
    public struct Kind: RawRepresentable, Codable, Sendable, Equatable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A store that had rows is not there, or is no database any more.
        public static let missing = Kind(rawValue: "store_missing")
        /// A store that had rows is there, and cannot be read or counted.
        public static let unreadable = Kind(rawValue: "store_unreadable")
        /// A store that had rows has none at all.
        public static let empty = Kind(rawValue: "store_empty")
        /// A store, or all together, has less than half of the rows.
        public static let fewerRows = Kind(rawValue: "fewer_rows")
    }

    public var kind: Kind
    /// The store's path, printable; `nil` for all together.
    public var path: String?
    /// The rows that there were; `nil` where they were not known.
    public var before: Int64?
    /// The rows that there are; `nil` where they cannot be counted.
    public var now: Int64?

    public var description: String {
        let name = path.map { "'\($0)'" } ?? "all stores together"
        let had = before.map { " (it had \($0) rows)" } ?? ""
        return switch kind {
        case .missing: "\(name) is gone, or is no database any more\(had)"
        case .unreadable: "\(name) cannot be read any more\(had)"
        case .empty, .fewerRows: "\(name) had \(before ?? 0) rows and now \(now ?? 0)"
        default: "\(name) has less than before\(had)"
        }
    }
}

/// Compares what is backed up with what was there before, so that a loss of data is noticed while
/// there still are backups from before it.
///
/// The comparison is with the newest backup. One that was itself an anomaly carries on what it was
/// compared with, and so does not become the measure: the guard warns until the rows are back or a
/// person accepts that they are gone. After a restore it is with what was restored, as this machine
/// remembers; one that failed changes nothing.
struct AnomalyGuard {
    /// Below this, half of the rows is a matter of a few, which a person may well have deleted.
    ///
    /// It counts only for a fraction: a store that has lost all its rows is told whatever it had.
    static let fewestRows: Int64 = 20

    /// What was there before; `nil` where there is nothing to compare with.
    var baseline: [StoreRows]?
    /// Whether what is there now is right, whatever there was.
    var acceptsChanges: Bool
    /// Whether a restore follows: what was lost before it is no news to the person who makes it.
    var isBeforeRestore = false

    /// Marks a manifest where its stores have much less than there was.
    ///
    /// - Parameters:
    ///   - header: the manifest's beginning, with its stores.
    ///   - unreadable: the paths of stores that are there and are not among those of the manifest.
    func mark(_ header: inout ManifestHeader, unreadable: Set<String>) {
        guard let baseline, !acceptsChanges else { return }
        let anomalies = Self.compare(header.rows, with: baseline, unreadable: unreadable)
        guard !anomalies.isEmpty else { return }
        header.anomalies = anomalies
        header.baseline = baseline
    }

    /// What to tell of a manifest that was marked, if there is anything.
    func problem(_ header: ManifestHeader) -> Problem? {
        guard let anomalies = header.anomalies, !isBeforeRestore else { return nil }
        var findings = anomalies.prefix(5).map(\.description)
        if anomalies.count > 5 { findings.append("and \(anomalies.count - 5) more") }
        return Problem(
            kind: .anomaly,
            path: ".",
            reason:
                "much less than before: \(findings.joined(separator: ", ")); if that is right, run 'grocerydude backup --accept-changes'"
        )
    }

    static func compare(
        _ stores: [StoreRows],
        with baseline: [StoreRows],
        unreadable: Set<String>
    ) -> [Anomaly] {
        let now = Dictionary(stores.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        var anomalies: [Anomaly] = []
        var (sumBefore, sumNow): (Int64, Int64) = (0, 0)
        for before in baseline where before.rows != 0 {
            func note(_ kind: Anomaly.Kind, _ rows: Int64? = nil) {
                anomalies.append(
                    Anomaly(kind: kind, path: before.path, before: before.rows, now: rows)
                )
            }
            guard let store = now[before.path] else {
                note(unreadable.contains(before.path) ? .unreadable : .missing)
                continue
            }
            guard let count = before.rows else { continue }
            guard let rows = store.rows else {
                note(.unreadable)
                continue
            }
            sumBefore = sumBefore.addingSaturated(count)
            sumNow = sumNow.addingSaturated(rows)
            if rows == 0 {
                note(.empty, 0)
            } else if isFraction(rows, of: count) {
                note(.fewerRows, rows)
            }
        }
        if anomalies.isEmpty, isFraction(sumNow, of: sumBefore) {
            anomalies.append(Anomaly(kind: .fewerRows, path: nil, before: sumBefore, now: sumNow))
        }
        return anomalies
    }

    private static func isFraction(_ rows: Int64, of before: Int64) -> Bool {
        before >= fewestRows && rows < before / 2
    }
}

extension ManifestHeader {
    /// The rows of each store.
    var rows: [StoreRows] { stores.map { StoreRows($0) } }

    /// What a backup that follows this one is compared with.
    var successorBaseline: [StoreRows] { baseline ?? rows }
}

extension [Backup] {
    /// Whether the anomaly guard is up, so that no backup may be deleted by itself.
    ///
    /// The newest backup has much less than there was before, and in the others may be what was
    /// lost. Its manifest says so; of an archive elsewhere it is known where this machine made it and
    /// remembers that. What is damaged, or has no manifest, tells nothing; the one before it may.
    /// For a list as `ListBackups` sorts it.
    public var isGuarded: Bool { newestTold?.isAnomalous ?? false }

    /// The newest whose manifest is known.
    var newestTold: Backup? { first { $0.damage == nil && $0.timeSource == .manifest } }
}
