internal import Sync

/// How a store that takes part is, and its file.
public enum StoreState: String, Sendable {
    case inStep = "in_step"
    case localOnly = "local_only"
    case behind
    case needsDecision = "needs_decision"
    /// Its file is not there any more.
    case gone
    /// Its file is damaged, or no store any more.
    case damaged
    /// Its file cannot be read; or it could not be exchanged, and what is kept of it does not tell that.
    case failed

    /// Judges a store by what is kept of it, and by the error of the last look at it.
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
            }
        }
    }
}
