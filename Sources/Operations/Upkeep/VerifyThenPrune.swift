public import Backups
public import Foundation

/// Removes older backups once the newest is known to be whole.
public struct VerifyThenPrune: Sendable {
    /// The end that it came to.
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

    /// Verifies a backup, and prunes if it is whole.
    ///
    /// One that is encrypted, and that no key opens, is good if all of it is there: it was computed and written a
    /// moment ago, and whoever makes backups need not be able to read them.
    /// - Returns: the damage, or what was removed.
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
