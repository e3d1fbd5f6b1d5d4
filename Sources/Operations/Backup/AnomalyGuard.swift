internal import Backups
internal import Files
internal import Stores

/// A comparison of the backed-up data with the data before.
///
/// It reveals a loss of data while backups from before the loss still exist.
///
/// It compares with the newest backup. If that backup is an anomaly itself, the data that it was compared with counts
/// instead: the guard warns until the data is back, or until a person accepts the loss. After a restore, it compares
/// with the restored data, as recorded on this machine; a failed restore changes nothing.
struct AnomalyGuard {
    /// The number of rows below which a loss of half of them does not count: a person may well have deleted so few.
    ///
    /// It applies to fractions only: a store that has lost all its rows is always reported.
    static let fewestRows: Int64 = 20
    /// The same for a table that has lost all its rows, of a store that has not lost half of them.
    ///
    /// Tables that lose a part, such as those of sessions and jobs, are tidied up by many applications.
    static let fewestTableRows: Int64 = 100
    /// The same for the number of files beside the stores.
    static let fewestFiles: Int64 = 20
    /// The same for their bytes: a log may be large.
    static let fewestFileBytes: Int64 = 100_000_000
    /// The same for the bytes of a database that SQLite does not read.
    static let fewestBytes: Int64 = 1_000_000

    /// The data before; `nil` if there is nothing to compare with.
    var expected: ExpectedData?
    /// Whether the user accepts the present data, whatever it was before.
    var acceptsChanges: Bool
    /// Whether a restore follows: the user then knows of the loss.
    var isBeforeRestore = false

    /// The paths of the stores before.
    var knownStores: Set<RelativePath> {
        Set((expected?.stores ?? []).compactMap { RelativePath(printed: $0.path) })
    }

    /// Marks a manifest if it has much less data than before.
    ///
    /// - Parameters:
    ///   - header: the manifest's header, with its stores and the sums of the other files.
    ///   - unreadable: the paths of existing stores that are not in the manifest.
    ///   - uncounted: the paths of intact stores in which the local SQLite cannot count all rows.
    ///   - wasLeftOut: returns whether a store that is not in the manifest is excluded.
    func mark(
        _ header: inout ManifestHeader,
        unreadable: Set<ExactString>,
        uncounted: Set<ExactString> = [],
        wasLeftOut: (String) -> Bool = { _ in false }
    ) {
        guard let expected, !acceptsChanges else { return }
        var anomalies = Self.compare(
            header.rows,
            with: expected.stores,
            unreadable: unreadable,
            uncounted: uncounted,
            wasLeftOut: wasLeftOut
        )
        if let now = header.otherFiles, let before = expected.otherFiles {
            let stores = unreadable.union(header.stores.map(\.path.exact))
            anomalies += Self.compare(now, with: before, beside: stores, wasLeftOut: wasLeftOut)
        }
        guard !anomalies.isEmpty else { return }
        header.anomalies = anomalies
        header.expectedRows = expected.stores
        header.expectedOtherFiles = expected.otherFiles
    }

    /// Returns the problem to report for a marked manifest, if there is any.
    func problem(_ header: ManifestHeader) -> Problem? {
        guard let anomalies = header.anomalies, !isBeforeRestore else { return nil }
        var findings = anomalies.prefix(5).map(\.description)
        if anomalies.count > 5 { findings.append("and \(anomalies.count - 5) more") }
        return Problem(
            kind: .anomaly,
            path: ".",
            reason: "much less than before: \(findings.joined(separator: ", "))"
        )
    }

    static func compare(
        _ stores: [StoreRows],
        with expected: [StoreRows],
        unreadable: Set<ExactString>,
        uncounted: Set<ExactString> = [],
        wasLeftOut: (String) -> Bool = { _ in false }
    ) -> [Anomaly] {
        let now = Dictionary(
            stores.map { ($0.path.exact, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        var anomalies: [Anomaly] = []
        var (sumBefore, sumNow): (Int64, Int64) = (0, 0)
        for before in expected where before.rows != 0 {
            func note(_ kind: Anomaly.Kind, _ rows: Int64? = nil) {
                anomalies.append(
                    Anomaly(kind: kind, path: before.path, before: before.rows, now: rows)
                )
            }
            guard let store = now[before.path.exact] else {
                let isUnreadable = unreadable.contains(before.path.exact)
                note(isUnreadable ? .unreadable : wasLeftOut(before.path) ? .leftOut : .missing)
                continue
            }
            guard let count = before.rows else { continue }
            guard let rows = store.rows else {
                if !uncounted.contains(before.path.exact) { note(.unreadable) }
                continue
            }
            sumBefore = sumBefore.addingSaturated(count)
            sumNow = sumNow.addingSaturated(rows)
            if rows == 0 {
                note(.empty, 0)
            } else if isFraction(rows, of: count, fewest: fewestRows) {
                note(.fewerRows, rows)
            } else {
                anomalies += compareTables(of: store, with: before)
            }
        }
        if anomalies.isEmpty, isFraction(sumNow, of: sumBefore, fewest: fewestRows) {
            anomalies.append(Anomaly(kind: .fewerRows, path: nil, before: sumBefore, now: sumNow))
        }
        return anomalies
    }

    /// Compares the tables of a store, of which another may have grown as much as one has lost.
    private static func compareTables(of store: StoreRows, with expected: StoreRows) -> [Anomaly] {
        guard let tables = store.tables, let before = expected.tables else { return [] }
        let now = Dictionary(tables.map { ($0.name.exact, $0.rows) }) { first, _ in first }
        let names = Set(before.map(\.name.exact))
        // A table may have got another name.
        let mostNew = tables.filter { !names.contains($0.name.exact) }.compactMap(\.rows).max() ?? 0
        return before.compactMap { table in
            guard let count = table.rows, count >= fewestTableRows else { return nil }
            if let rows = now[table.name.exact] {
                if rows != 0 { return nil }
            } else if mostNew >= count / 2 {
                return nil
            }
            return Anomaly(
                kind: .fewerTableRows,
                path: expected.path,
                table: table.name,
                before: count,
                now: 0
            )
        }
    }

    /// Compares the files that belong to no store.
    ///
    /// - Parameters:
    ///   - files: the files now.
    ///   - expected: the files before.
    ///   - stores: the paths of the stores that exist now: a database may not be encrypted any more.
    ///   - wasLeftOut: returns whether a file is excluded.
    /// - Returns: everything that there is much less of.
    static func compare(
        _ files: OtherFiles,
        with expected: OtherFiles,
        beside stores: Set<ExactString> = [],
        wasLeftOut: (String) -> Bool = { _ in false }
    ) -> [Anomaly] {
        let now = Dictionary(files.databases.map { ($0.path.exact, $0.bytes) }) { first, _ in first
        }
        var anomalies = expected.databases.compactMap { before -> Anomaly? in
            let path = before.path
            guard let bytes = now[path.exact] else {
                if stores.contains(path.exact) { return nil }
                let kind: Anomaly.Kind = wasLeftOut(path) ? .leftOut : .missing
                return Anomaly(kind: kind, path: path, before: nil, now: nil)
            }
            guard isFraction(bytes, of: before.bytes, fewest: fewestBytes) else { return nil }
            return Anomaly(kind: .fewerBytes, path: path, before: before.bytes, now: bytes)
        }
        // With other rules, a user left out the files.
        guard files.exclusions == expected.exclusions else { return anomalies }
        if isFraction(files.files, of: expected.files, fewest: fewestFiles) {
            anomalies.append(
                Anomaly(kind: .fewerFiles, path: nil, before: expected.files, now: files.files)
            )
        } else if isFraction(files.bytes, of: expected.bytes, fewest: fewestFileBytes) {
            anomalies.append(
                Anomaly(kind: .fewerBytes, path: nil, before: expected.bytes, now: files.bytes)
            )
        }
        return anomalies
    }

    private static func isFraction(_ now: Int64, of before: Int64, fewest: Int64) -> Bool {
        before >= fewest && now < before / 2
    }
}
