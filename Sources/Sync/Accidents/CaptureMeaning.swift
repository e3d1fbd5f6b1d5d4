internal import Files
internal import Stores

/// The meaning of a capture's differences: they are edits, unless there was an accident.
struct CaptureMeaning {
    /// Whether the store may be another one, or the shadow an older one.
    ///
    /// In that case differences are no edits until a person says so.
    private let isSuspect: Bool
    private let wasRolledBack: Bool
    private let rejoining: Rejoining?
    private let acceptsChanges: Bool

    init(
        _ version: StoreVersion,
        _ options: StoreExchange.Options,
        _ rejoining: Rejoining?,
        _ access: SidecarAccess
    ) throws {
        wasRolledBack = try access.integer("rolled") != nil
        isSuspect = try wasRolledBack || version.isSuspect(access)
        self.rejoining = rejoining
        acceptsChanges = options.acceptsChanges
    }

    func options(seeds: Bool) -> Capture.Options {
        Capture.Options(
            acceptsChanges: acceptsChanges || isSuspect || rejoining != nil,
            seeds: seeds,
            meaning: rejoining ?? .edits,
            matches: wasRolledBack || rejoining != nil,
            revives: rejoining != nil && rejoining != .container
        )
    }

    /// Throws if a store that may be another one differs from its shadow, so that a person can decide.
    ///
    /// - Throws: `SyncDecision.replaced`.
    func check(_ result: Capture.Result, _ store: Store) throws {
        guard isSuspect, rejoining == nil, result.changes > 0 else { return }
        throw SyncDecision.replaced(store.path.description)
    }
}
