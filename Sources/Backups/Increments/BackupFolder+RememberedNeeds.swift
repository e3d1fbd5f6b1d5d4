internal import Files
internal import Remotes

extension BackupFolder {
    /// Returns the backups that an increment is built on, according to the catalog.
    ///
    /// - Parameter backup: a backup of this folder whose needs are known.
    /// - Returns: the backups to restore it with, the full one first.
    /// - Throws: `BackupFolderError.missingNeed`; `RemoteError`.
    package func rememberedNeeds(of backup: Backup) async throws -> [Backup] {
        let others = try await list().backups.filter { $0.name.exact != backup.name.exact }
        var found: [Backup] = []
        for need in backup.needs.reversed() {
            let candidates = others.compactMap { other in
                other.likeness(to: need, of: backup.lineage).map { (other, likeness: $0) }
            }
            // Some remote archives are known by name only.
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
            // A full backup needs no other.
            if !other.isIncrement { break }
        }
        return found
    }
}
