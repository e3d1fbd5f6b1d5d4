internal import Foundation
public import Sync
public import SystemPackage

/// The state of a store after an exchange, or after an attempt.
public struct SyncedStore: Sendable {
    /// The store's path below the stores directory.
    public var store: String
    /// The result of the exchange; `nil` if it failed before that.
    public var outcome: ExchangeOutcome?
    /// The state of the store's part in its group.
    public var overview = SyncOverview()
    /// The number of edits that lost in this exchange.
    public var newConflicts: Int64 = 0
    /// The copy of the store that was kept before it yielded to the container.
    public var yielded: FilePath?
    /// The increase in the number of rows that are not shown.
    public var newHeld: Int64 = 0
    /// The increase in the number of rows that yield to others with the same key.
    public var newYielding: Int64 = 0
    /// The reason why the exchange was not made, or only partly.
    public var error: (any Error)?

    /// The state of the store.
    public var state: StoreState { StoreState(overview, after: error) }

    /// The names of the devices whose changes were applied.
    public var takenFrom: [String] {
        (outcome?.takenDevices ?? []).map(overview.title(of:)).sorted()
    }

    /// Sets the error if the exchange succeeded but left something undone.
    mutating func judge(putOffBy reason: (any Error)?, at date: Date) {
        guard let outcome, error == nil else { return }
        if let trouble = outcome.trouble {
            error = SyncError.cutOff(trouble, unsent: overview.unsentChanges)
        } else if !outcome.hasContainer {
            error = SyncError.noContainer(
                overview.container ?? "",
                unsent: overview.unsentChanges
            )
        } else if outcome.isPutOff {
            error = reason
        } else {
            let late = overview.waiting.filter {
                $0.isNewer || date.timeIntervalSince($0.since) > 86_400
            }
            guard let first = late.first else {
                if newYielding > 0 {
                    error = SyncError.yielded(store: store, count: newYielding)
                } else if !overview.fileTroubles.isEmpty {
                    error = SyncError.filesStay(store: store, overview.fileTroubles)
                }
                return
            }
            error =
                late.allSatisfy(\.isNewer)
                ? SyncError.newerFiles(store: store, count: late.count, reason: first.reason)
                : SyncError.unreadFiles(
                    store: store,
                    count: late.count,
                    first: first.file,
                    reason: first.reason
                )
        }
    }
}

extension ExchangeOutcome {
    /// Whether the container became unreachable during the exchange.
    var isCutOff: Bool { trouble.map { SyncError.cutOff($0, unsent: 0).isOfAbsence } ?? false }
}
