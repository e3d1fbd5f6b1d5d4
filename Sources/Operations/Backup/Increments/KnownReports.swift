internal import Files
internal import Foundation
internal import History
internal import Stores

/// The reports of earlier backups about stores with unchanged disk state: their rows are not counted again.
struct KnownReports {
    /// The recorded report about a store without findings.
    private struct Kept: Codable {
        var facts: StoreFacts
        var externalReferences: [String]
    }

    private let state: BackupState
    /// The disk state of each store's files, if it did not change during the cut.
    private var standing: [RelativePath: String] = [:]
    private(set) var reports: [RelativePath: StoreReport] = [:]

    /// Finds the recorded reports; `nil` for a backup outside a lineage.
    ///
    /// - Parameters:
    ///   - members: the stores, under the cut.
    ///   - before: the disk state of each store before the cut.
    ///   - plan: the plan of the archive.
    /// - Throws: `HistoryError`.
    init?(
        of members: [StoresCut.Member],
        standing before: [RelativePath: String],
        _ plan: BackupPlan
    ) throws {
        guard let lineage = plan.lineage else { return nil }
        let state = lineage.state
        self.state = state
        // A full backup, a check, and the option to reread everything count again.
        let isTrusted =
            lineage.plan.isIncrement && !plan.options.checksStores
            && plan.options.increments?.rereads != true
        let now = plan.options.date
        for member in members {
            let store = member.store
            guard let previous = before[store.path], previous == store.standing(at: now) else {
                continue
            }
            let support = store.supportDirectory.below(store.directory)
            let hasSupport = !FileInfo.isMissing(support)
            let text = "\(previous) \(hasSupport)"
            standing[store.path] = text
            // The names of its files must be read again.
            let namesFiles = plan.options.externalFiles.contains { $0.store == store.path }
            guard isTrusted, !namesFiles,
                let bytes = try state.report(of: store.path.bytes, standing: text),
                let kept = try? JSONDecoder().decode(Kept.self, from: Data(bytes))
            else { continue }
            reports[store.path] = StoreReport(
                facts: kept.facts,
                damage: [],
                externalReferences: Set(kept.externalReferences)
            )
        }
    }

    /// Records a store's report, unless it is already recorded, or contains findings to repeat each time.
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
