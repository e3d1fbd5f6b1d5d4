internal import Files
internal import Foundation
internal import History
internal import Stores

/// What earlier backups found in the stores that stand as they did then: their rows are not counted again.
struct KnownReports {
    /// What is kept of a look into a store that found nothing to remark.
    private struct Kept: Codable {
        var facts: StoreFacts
        var externalReferences: [String]
    }

    private let state: BackupState
    /// How the files of each store stand, if they did so already before the cut.
    private var standing: [RelativePath: String] = [:]
    private(set) var reports: [RelativePath: StoreReport] = [:]

    /// Looks for what is known; `nil` for a backup that none is built on.
    ///
    /// - Parameters:
    ///   - members: the stores, under the cut.
    ///   - before: how each stood before the cut.
    ///   - plan: that of the archive.
    /// - Throws: `HistoryError`.
    init?(
        of members: [StoresCut.Member],
        standing before: [RelativePath: String],
        _ plan: BackupPlan
    ) throws {
        guard let lineage = plan.lineage else { return nil }
        let state = lineage.state
        self.state = state
        // A whole one, a check, and whoever wants all to be read, count anew.
        let isTrusted =
            lineage.plan.isIncrement && !plan.options.checksStores
            && plan.options.increments?.rereads != true
        let now = plan.options.date
        for member in members {
            let store = member.store
            guard let stood = before[store.path], stood == store.standing(at: now) else { continue }
            let support = store.supportDirectory.below(store.directory)
            let hasSupport = (try? FileInfo.ifPresent(support)) as FileInfo?? != .some(nil)
            let text = "\(stood) \(hasSupport)"
            standing[store.path] = text
            guard isTrusted, let bytes = try state.report(of: store.path.bytes, standing: text),
                let kept = try? JSONDecoder().decode(Kept.self, from: Data(bytes))
            else { continue }
            reports[store.path] = StoreReport(
                facts: kept.facts,
                damage: [],
                externalReferences: Set(kept.externalReferences)
            )
        }
    }

    /// Keeps what was found in a store, unless it was known, or is to be remarked each time.
    ///
    /// - Throws: `HistoryError`.
    func keep(_ report: StoreReport, of store: Store) throws {
        guard reports[store.path] == nil, report.damage.isEmpty, report.remarks.isEmpty,
            let standing = standing[store.path]
        else { return }
        let kept = Kept(
            facts: report.facts,
            externalReferences: report.externalReferences.sorted()
        )
        try state.put(
            report: Array(JSONEncoder().encode(kept)),
            of: store.path.bytes,
            standing: standing
        )
    }
}
