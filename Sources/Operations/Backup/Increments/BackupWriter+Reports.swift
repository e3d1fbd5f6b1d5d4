internal import Files
internal import Foundation
internal import History
internal import Stores

// Rows of a store that stands as it did are not counted again.
extension BackupWriter {
    /// What is kept of a look into a store that found nothing to remark.
    private struct KeptReport: Codable {
        var facts: StoreFacts
        var externalReferences: [String]
    }

    /// Returns what earlier backups found in those stores that stand as they did then.
    ///
    /// - Throws: `HistoryError`.
    func knownReports(of members: [StoresCut.Member]) throws -> [RelativePath: StoreReport] {
        guard let lineage = plan.lineage, lineage.plan.isIncrement, !plan.options.checksStores,
            plan.options.increments?.rereads != true
        else { return [:] }
        var known: [RelativePath: StoreReport] = [:]
        for member in members {
            guard let standing = reportStanding(of: member.store),
                let bytes = try lineage.state.report(
                    of: member.store.path.bytes,
                    standing: standing
                ),
                let kept = try? JSONDecoder().decode(KeptReport.self, from: Data(bytes))
            else { continue }
            known[member.store.path] = StoreReport(
                facts: kept.facts,
                damage: [],
                externalReferences: Set(kept.externalReferences)
            )
        }
        return known
    }

    /// Keeps what was found in the stores, unless it was known.
    ///
    /// - Throws: `HistoryError`.
    func keep(_ stores: [KnownStore], unless known: [RelativePath: StoreReport]) throws {
        guard let lineage = plan.lineage else { return }
        for (member, report) in stores where known[member.store.path] == nil {
            guard report.damage.isEmpty, report.remarks.isEmpty,
                let standing = reportStanding(of: member.store)
            else { continue }
            let kept = KeptReport(
                facts: report.facts,
                externalReferences: report.externalReferences.sorted()
            )
            try lineage.state.put(
                report: Array(JSONEncoder().encode(kept)),
                of: member.store.path.bytes,
                standing: standing
            )
        }
    }

    /// Returns how a store stands, if it did so already before the cut.
    private func reportStanding(of store: Store) -> String? {
        guard let before = standing[store.path], before == store.standing(at: plan.options.date)
        else { return nil }
        let support = store.supportDirectory.below(store.directory)
        let hasSupport = (try? FileInfo.ifPresent(support)) as FileInfo?? != .some(nil)
        return "\(before) \(hasSupport)"
    }
}
