internal import Files
internal import SystemPackage

/// The locks of a restore, in their order: the directory that holds the stores directory, so that
/// two restores cannot meet while it is away, then the stores directory itself.
///
/// A stores directory that stays where it is needs no lock but its own.
struct RestoreLocks {
    let parent: FileLock?
    let live: FileLock?

    /// Runs a body under the locks.
    ///
    /// - Throws: `FileError`, `.locked` if another run has one of them; what the body throws.
    static func withLocks<Result>(
        on paths: RestorePaths,
        _ context: OperationContext,
        _ body: (RestoreLocks) async throws -> Result
    ) async throws -> Result {
        let parent = paths.layout == .beside ? try await context.lock(paths.area) : nil
        let isThere = try FileInfo.ifPresent(paths.live) != nil
        let live = isThere ? try await context.lock(paths.live) : nil
        let locks = RestoreLocks(parent: parent, live: live)
        defer { withExtendedLifetime(locks) {} }
        return try await body(locks)
    }

    /// Runs a body under the lock of what is staged, which is that of the stores directory after an
    /// exchange.
    func withStagedLock<Result>(
        _ paths: RestorePaths,
        _ context: OperationContext,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let staged = paths.layout == .beside ? try await context.lock(paths.new) : nil
        defer { withExtendedLifetime(staged) {} }
        return try await body()
    }
}
