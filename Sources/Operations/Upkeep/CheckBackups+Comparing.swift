public import Backups
public import Foundation

extension CheckBackups {
    /// Compares backups with what is remembered of their uploads, and reads no data.
    ///
    /// Damage is remembered as that of a check. To have found none says too little for that.
    ///
    /// - Returns: a result for each, in the same order.
    /// - Throws: `RemoteError`.
    public func compare(_ backups: [Backup], at date: Date) async throws -> [Result] {
        let comparisons = try await folder.compare(backups)
        var results: [Result] = []
        for (backup, comparison) in zip(backups, comparisons) {
            var result = Result(
                backup: backup,
                subset: .all,
                damage: [comparison.damage].compactMap(\.self)
            )
            result.comparison = comparison.basis
            if !result.damage.isEmpty { await remember(result, backup.id, at: date) }
            results.append(result)
        }
        return results
    }
}
