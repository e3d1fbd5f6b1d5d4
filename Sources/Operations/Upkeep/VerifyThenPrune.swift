public import Backups
public import Foundation

/// Removes older backups once the newest one is verified.
public struct VerifyThenPrune: Sendable {
    /// The result.
    public enum Outcome: Sendable {
        /// The backup is damaged, and nothing was removed.
        case damaged(String)
        case pruned(PruneBackups.Outcome)
    }

    private let check: CheckBackups
    private let prune: PruneBackups

    public init(check: CheckBackups, prune: PruneBackups) {
        self.check = check
        self.prune = prune
    }

    /// Verifies a backup, and prunes if it is intact.
    ///
    /// An encrypted backup that no key opens counts as intact if all its bytes are there. It was written a moment ago,
    /// and a machine that makes backups need not be able to read them.
    /// - Returns: the damage, or the result of the prune.
    /// - Throws: an error that keeps the backup from being checked; see `PruneBackups.run()`.
    public func run(_ backup: Backup, at date: Date) async throws -> Outcome {
        let result = try await check.run(backup, at: date)
        if let failure = result.failure {
            guard failure.isOfKeys, try await check.isAllThere(backup) else { throw failure }
        }
        if let damage = result.damage.first { return .damaged(damage) }
        return .pruned(try await prune.run())
    }
}
