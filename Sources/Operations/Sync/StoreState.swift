internal import Sync

/// The state of a store that takes part, and of its file.
public enum StoreState: String, Sendable {
    case inStep = "in_step"
    case localOnly = "local_only"
    case behind
    case needsDecision = "needs_decision"
    /// The settings switch sync off.
    case off
    /// The file is missing.
    case gone
    /// The file is damaged, or no longer a store.
    case damaged
    /// The file cannot be read, or the exchange failed without a trace in the sidecar.
    case failed

    /// Determines the state of a store from its sidecar, and from the error of the last access.
    init(_ overview: SyncOverview, after error: (any Error)?) {
        switch error as? SyncError {
        case .storeGone: self = .gone
        case .noStoreAnyMore, .damagedStore: self = .damaged
        case .unreadableStore: self = .failed
        default:
            switch overview.state {
            case .inStep: self = error == nil ? .inStep : .failed
            case .localOnly: self = .localOnly
            case .behind: self = .behind
            case .needsDecision: self = .needsDecision
            case .off: self = .off
            }
        }
    }
}
