internal import Backups
internal import Files
internal import Foundation
internal import Stores
internal import SystemPackage

/// The stores that a restore would replace, if they can be read.
struct PresentStores {
    private let facts: [StoreFacts]

    /// Reads the stores in a directory, or in a part of it, while writers may continue.
    ///
    /// - Throws: `StoreError.busy` if a writer blocks readers; `FileError`.
    init(
        in path: FilePath,
        of part: RestoredPart? = nil,
        leavingOut exclusions: Exclusions = .none,
        _ context: OperationContext
    ) throws {
        var survey = try StoresDirectory(path).survey(
            leavingOut: .matches(exclusions),
            isCancelled: context.checkCancellation
        )
        survey.limit(to: part)
        let cut = try StoresCut(
            of: survey.stores,
            scratchParent: context.scratch,
            busyTimeout: .seconds(1)
        )
        let reports = StoreReports(of: cut.members, checking: .none, context)
        defer { reports.close() }
        facts = try reports.wait().map(\.facts)
    }

    /// Returns a description of everything that a backup has much less of than the present stores; `nil` if there is
    /// none.
    func loss(by backup: String, with stores: [StoreFacts]) -> String? {
        let anomalies = AnomalyGuard.compare(
            stores.map { StoreRows($0) },
            with: facts.map { StoreRows($0) },
            unreadable: []
        )
        guard !anomalies.isEmpty else { return nil }
        var losses = anomalies.prefix(5).map { anomaly in
            let name = anomaly.subject
            let now = "\(anomaly.before ?? 0) now"
            return switch anomaly.kind {
            case .missing:
                "\(name) is not in it as a sound store, and has \(counted(anomaly.before)) now"
            case .unreadable:
                "\(name) could not be counted in it, and has \(counted(anomaly.before)) now"
            default:
                "\(name) \(anomaly.path == nil ? "have" : "has") \(counted(anomaly.now)) in it, and \(now)"
            }
        }
        if anomalies.count > 5 { losses.append("and \(anomalies.count - 5) more") }
        return "'\(backup)' has much less than what is there now: \(losses.joined(separator: "; "))"
    }

    private func counted(_ rows: Int64?) -> String {
        Files.counted(Int(rows ?? 0), "row", "rows")
    }

    /// Returns a remark for each store with a higher version in a backup than now.
    func newer(_ stores: [StoreFacts]) -> [String] {
        let present = Dictionary(facts.map { ($0.path.exact, $0.userVersion) }) { first, _ in first
        }
        return stores.compactMap { store in
            guard let version = present[store.path.exact], store.userVersion > version else {
                return nil
            }
            return
                "'\(store.path)' has version \(store.userVersion) (user_version) in the backup, and \(version) now: "
                + "a newer application than the installed one seems to have made it"
        }
    }
}
