internal import Files
internal import Stores

/// The meaning of a capture's differences: they are edits, unless there was an accident.
struct CaptureMeaning {
    /// A doubt about the sidecar; its rows are found again among those of the container.
    enum Doubt: Int64 {
        /// The sidecar was rolled back, so differences may be data that others have.
        case rolledBack = 1
        /// The sidecar is another file beside the same store, and may be an older copy.
        case moved = 2
    }

    /// Whether the store may be another one, or the shadow an older one.
    ///
    /// In that case differences are no edits until a person says so.
    private let isSuspect: Bool
    private let doubt: Doubt?
    private let rejoining: Rejoining?
    private let acceptsChanges: Bool

    init(
        _ version: StoreVersion,
        _ options: StoreExchange.Options,
        _ rejoining: Rejoining?,
        _ access: SidecarAccess
    ) throws {
        doubt = try access.integer("rolled").flatMap(Doubt.init)
        isSuspect = try doubt == .rolledBack || version.isSuspect(access)
        self.rejoining = rejoining
        acceptsChanges = options.acceptsChanges
    }

    func options(seeds: Bool) -> Capture.Options {
        Capture.Options(
            acceptsChanges: acceptsChanges || isSuspect || rejoining != nil,
            seeds: seeds,
            meaning: rejoining ?? .edits,
            matches: doubt != nil || rejoining != nil,
            matchesEdited: doubt != nil,
            revives: rejoining != nil && rejoining != .container
        )
    }

    /// Throws if a store that may be another one differs from its shadow, so that a person can decide.
    ///
    /// - Throws: `SyncDecision.replaced`.
    func check(_ result: Capture.Result, _ store: Store) throws {
        guard isSuspect, rejoining == nil, result.changes > 0 || result.left > 0 else {
            return
        }
        throw SyncDecision.replaced(store.path.description)
    }
}
