internal import Foundation
public import Sync
public import SystemPackage

/// One store after an exchange, or an attempt at one.
public struct SyncedStore: Sendable {
    /// Its path below the stores directory.
    public var store: String
    /// What was sent, taken and written; `nil` if it did not come to that.
    public var outcome: ExchangeOutcome?
    /// How the store is now.
    public var overview = SyncOverview()
    /// How many edits lost in this exchange.
    public var newConflicts: Int64 = 0
    /// The copy of the store that was kept before it yielded to the container.
    public var yielded: FilePath?
    /// How many rows more are not shown than before.
    public var newHeld: Int64 = 0
    /// Why it was not done, or only in part.
    public var error: (any Error)?

    /// How it is.
    public var state: StoreState { StoreState(overview, after: error) }

    /// The names of the devices from which something was taken.
    public var takenFrom: [String] {
        (outcome?.takenDevices ?? []).map(overview.title(of:)).sorted()
    }

    /// Finds what an exchange without an error left undone.
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
            guard let first = late.first else { return }
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
    /// Whether the container went away in the middle.
    var isCutOff: Bool { trouble.map { SyncError.cutOff($0, unsent: 0).isOfAbsence } ?? false }
}
