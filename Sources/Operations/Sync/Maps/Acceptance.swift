internal import Files
internal import Foundation
internal import Stores
internal import Sync
internal import SystemPackage

/// An exchange of which a person may have accepted what it changes.
///
/// A new map is looked at before the store goes by it: rows that it does not tell apart would be one elsewhere.
struct Acceptance {
    let store: Store
    let sidecar: Sidecar
    let container: Container
    let date: Date
    let context: OperationContext

    /// Ends an exchange once the store goes by the newest map.
    private struct IsAdopted: Error {}

    /// Exchanges.
    ///
    /// - Parameters:
    ///   - options: how, and whether all is accepted.
    ///   - before: what was known of the store.
    ///   - decision: gets the decision that is still to be made where an error keeps a map from being accepted.
    /// - Returns: what was sent, taken and written.
    /// - Throws: `SyncRefusal.ambiguousIdentity`; what an exchange throws.
    func exchange(
        _ options: StoreExchange.Options,
        _ before: SyncOverview,
        _ decision: inout SyncDecision?
    ) async throws -> ExchangeOutcome {
        let newMap = SyncDecision.newMap(leavesOut: [], identifies: [])
        let mayBeOfMap = before.decision.map { $0 == newMap.code } ?? true
        guard options.acceptsChanges, mayBeOfMap else { return try await run(sidecar, options) }
        var asking = options
        asking.acceptsChanges = false
        do {
            return try await run(sidecar, asking)
        } catch let error as SyncDecision {
            if error.code == newMap.code {
                decision = error
                try await refuseAlikeRows(options)
                decision = nil
            }
        }
        return try await run(sidecar, options)
    }

    /// Refuses the newest map if two rows of the store are alike by it.
    ///
    /// What it says is told by a copy of the sidecar that goes by it; the container is not asked.
    private func refuseAlikeRows(_ options: StoreExchange.Options) async throws {
        let scratch = try ScratchDirectory(in: context.scratch)
        defer { withExtendedLifetime(scratch) {} }
        let copy = try sidecar.copy(to: scratch.path.appending("map"))
        defer { try? copy.close() }
        var trying = options
        trying.isDryRun = true
        trying.passed = { step in
            if step == .recovered { throw IsAdopted() }
        }
        do {
            _ = try await run(copy, trying)
        } catch is IsAdopted {
            do {
                _ = try store.preview(by: try SyncOverview(of: copy).map, context)
            } catch SyncError.refused(_, let refusals) {
                if let first = refusals.first { throw first }
            }
        }
    }

    private func run(
        _ sidecar: Sidecar,
        _ options: StoreExchange.Options
    ) async throws -> ExchangeOutcome {
        try await StoreExchange(
            of: store,
            sidecar: sidecar,
            container: container,
            now: date,
            options: options
        ).run()
    }
}
