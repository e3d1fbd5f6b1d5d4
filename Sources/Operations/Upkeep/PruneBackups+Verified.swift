public import Backups
public import Foundation

extension PruneBackups {
    /// The result of a prune that depends on a check.
    public enum VerifiedOutcome: Sendable {
        /// The backup is damaged, and nothing was removed.
        case damaged(String)
        case pruned(Outcome)
    }

    /// Verifies a backup, and removes older ones if it is intact.
    ///
    /// An encrypted backup that no key opens counts as intact if all its bytes are there. It was written a moment ago,
    /// and a machine that makes backups need not be able to read them.
    /// - Returns: the damage, or the result of the prune.
    /// - Throws: an error that keeps the backup from being checked; see `run()`.
    public func run(
        verifying backup: Backup,
        with check: CheckBackups,
        at date: Date
    ) async throws -> VerifiedOutcome {
        let result = try await check.run(backup, at: date)
        if let failure = result.failure {
            guard failure.isOfKeys, try await check.isAllThere(backup) else { throw failure }
        }
        if let damage = result.damage.first { return .damaged(damage) }
        return .pruned(try await run())
    }
}
