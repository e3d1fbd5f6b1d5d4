internal import Backups
internal import Files

/// A comparison of the backed-up data with the data before.
///
/// It reveals a loss of data while backups from before the loss still exist.
///
/// It compares with the newest backup. If that backup is an anomaly itself, the rows that it was compared with count
/// instead: the guard warns until the rows are back, or until a person accepts the loss. After a restore, it compares
/// with the restored data, as recorded on this machine; a failed restore changes nothing.
struct AnomalyGuard {
    /// The number of rows below which a loss of half of them does not count: a person may well have deleted so few.
    ///
    /// It applies to fractions only: a store that has lost all its rows is always reported.
    static let fewestRows: Int64 = 20

    /// The rows before; `nil` if there is nothing to compare with.
    var expected: [StoreRows]?
    /// Whether the user accepts the present data, whatever it was before.
    var acceptsChanges: Bool
    /// Whether a restore follows: the user then knows of the loss.
    var isBeforeRestore = false

    /// Marks a manifest if its stores have much less data than before.
    ///
    /// - Parameters:
    ///   - header: the manifest's header, with its stores.
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
        let anomalies = Self.compare(
            header.rows,
            with: expected,
            unreadable: unreadable,
            uncounted: uncounted,
            wasLeftOut: wasLeftOut
        )
        guard !anomalies.isEmpty else { return }
        header.anomalies = anomalies
        header.expectedRows = expected
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
