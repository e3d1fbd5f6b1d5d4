internal import Files
internal import Foundation
internal import Stores
internal import Sync
internal import SystemPackage

/// An exchange whose changes the user may have accepted.
///
/// A new map is tried before the store uses it: rows that it cannot distinguish would become one row elsewhere.
struct Acceptance {
    let store: Store
    let sidecar: Sidecar
    let container: Container
    let date: Date
    let context: OperationContext

    /// A signal that ends an exchange once the store uses the newest map.
    private struct IsAdopted: Error {}

    /// Runs the exchange.
    ///
    /// - Parameters:
    ///   - options: the options, including whether changes are accepted.
    ///   - before: the facts about the store before the exchange.
    ///   - decision: set to the open decision if an error prevents the acceptance of a map.
    /// - Returns: the outcome of the exchange.
    /// - Throws: `SyncRefusal.ambiguousIdentity`; errors of the exchange.
    func exchange(
        _ options: StoreExchange.Options,
        _ before: SyncOverview,
        _ decision: inout SyncDecision?
    ) async throws -> ExchangeOutcome {
        let newMap = SyncDecision.newMap(leavesOut: [], identifies: [], writesFilesIn: [])
        let codes = [newMap, .refused("")].map(\.code)
        let mayBeOfMap = before.decision.map(codes.contains) ?? true
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

    /// Throws if the newest map makes two rows of the store indistinguishable.
    ///
    /// It applies the map to a copy of the sidecar; the container is not read.
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
