internal import Backups
internal import Files

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

    /// The rows that were there before; `nil` if there is nothing to compare with.
    var expected: [StoreRows]?
    /// Whether the data is right as it is now, whatever there was.
    var acceptsChanges: Bool
    /// Whether a restore follows: the person who makes it knows what was lost.
    var isBeforeRestore = false

    /// Marks a manifest if its stores have much less than there was.
    ///
    /// - Parameters:
    ///   - header: the manifest's beginning, with its stores.
    ///   - unreadable: the paths of stores that are there and are not among those of the manifest.
    ///   - wasLeftOut: whether a store that is not among them is left out.
    func mark(
        _ header: inout ManifestHeader,
        unreadable: Set<String>,
        wasLeftOut: (String) -> Bool = { _ in false }
    ) {
        guard let expected, !acceptsChanges else { return }
        let anomalies = Self.compare(
            header.rows,
            with: expected,
            unreadable: unreadable,
            wasLeftOut: wasLeftOut
        )
        guard !anomalies.isEmpty else { return }
        header.anomalies = anomalies
        header.expectedRows = expected
    }

    /// Returns the problem to tell of a manifest that was marked, if there is any.
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
        unreadable: Set<String>,
        wasLeftOut: (String) -> Bool = { _ in false }
    ) -> [Anomaly] {
        let now = Dictionary(stores.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        var anomalies: [Anomaly] = []
        var (sumBefore, sumNow): (Int64, Int64) = (0, 0)
        for before in expected where before.rows != 0 {
            func note(_ kind: Anomaly.Kind, _ rows: Int64? = nil) {
                anomalies.append(
                    Anomaly(kind: kind, path: before.path, before: before.rows, now: rows)
                )
            }
            guard let store = now[before.path] else {
                let isUnreadable = unreadable.contains(before.path)
                note(isUnreadable ? .unreadable : wasLeftOut(before.path) ? .leftOut : .missing)
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
