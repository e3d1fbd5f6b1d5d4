internal import Files
internal import SystemPackage

/// The locks of a restore, in their order: the directory that holds the stores directory, so that
/// two restores cannot meet while it is away, then the stores directory itself.
///
/// A stores directory that stays where it is needs no lock but its own.
struct RestoreLocks {
    let parent: FilePath?
    /// The stores directory, if there is one.
    let live: FilePath?

    /// Runs a body under the locks.
    static func withLocks<Result>(
        on paths: RestorePaths,
        _ context: OperationContext,
        _ body: (RestoreLocks) async throws -> Result
    ) async throws -> Result {
        let parent = paths.layout == .beside ? paths.area : nil
        return try await context.withLock(on: parent) {
            let live = try FileInfo.ifPresent(paths.live) == nil ? nil : paths.live
            return try await context.withLock(on: live) {
                try await body(RestoreLocks(parent: parent, live: live))
            }
        }
    }
}
