internal import Remotes

extension BackupFolder {
    /// Returns the backups that an increment is built on, by what is remembered of them all.
    ///
    /// - Parameter backup: one of this folder, whose needs are known.
    /// - Returns: the archives to restore it with, the whole one first.
    /// - Throws: `BackupFolderError.missingNeed`; `RemoteError`.
    package func rememberedNeeds(of backup: Backup) async throws -> [Backup] {
        let others = try await list().backups.filter { $0.name != backup.name }
        var found: [Backup] = []
        for need in backup.needs.reversed() {
            let candidates = others.compactMap { other in
                other.likeness(to: need, of: backup.lineage).map { (other, likeness: $0) }
            }
            // Of some elsewhere, no more than the name is known.
            let likeliest = candidates.filter { $0.likeness != .unknown }
                .min { $0.likeness.rawValue < $1.likeness.rawValue }
            guard let (other, _) = likeliest else {
                throw BackupFolderError.missingNeed(
                    backup.displayName,
                    need: BackupName.display(need.name),
                    address: address
                )
            }
            found.insert(other, at: 0)
            // A whole one needs no other.
            if !other.isIncrement { break }
        }
        return found
    }
}
