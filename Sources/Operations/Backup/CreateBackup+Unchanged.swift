internal import Backups
internal import Foundation
internal import Remotes

extension CreateBackup {
    /// Returns the newest backup, if it has everything that was written, and no more.
    ///
    /// It must be good as far as is known, and still be there. On this machine it is opened: a backup
    /// that cannot be opened is no reason to make none.
    func unchanged(_ written: WrittenArchive, since backups: [Backup]) async throws -> Backup? {
        guard options.skipsUnchanged, written.trailer.problems.isEmpty,
            written.header.anomalies == nil,
            let newest = backups.ordinary.notFromFuture(options.date).first,
            newest.damage == nil, !newest.isPartial
        else { return nil }
        var root = newest.root
        var exclusions = newest.exclusions
        if let location = newest.file.location {
            guard let archived = try? ArchivedBackup(location, name: newest.name) else {
                return nil
            }
            root = archived.header?.root
            exclusions = archived.header?.excluded?.key
        }
        let home = folder.home(of: newest)
        // A restore leaves other files alone then.
        guard root == written.header.root, exclusions == written.header.excluded?.key,
            home.content(of: newest) == written.trailer.content,
            // Another machine may have deleted it, which our lock does not keep out.
            try await home.remote.list().contains(where: {
                $0.name == newest.name && $0.size == newest.size
            }),
            try await home.isThere(newest)
        else { return nil }
        return newest
    }

    /// Adds the tags and the note to the backup that makes a new one unnecessary.
    ///
    /// - Returns: the backup as it is now, whether that is a change, and a problem if a loss of power may
    ///   undo that.
    func annotate(_ backup: Backup) async throws -> (Backup, Bool, Problem?) {
        guard !options.tags.isEmpty || options.note != nil else { return (backup, false, nil) }
        return try await folder.home(of: backup).annotate(backup, at: options.date) {
            for tag in options.tags where !$0.tags.contains(tag) { $0.tags.append(tag) }
            $0.note = options.note ?? $0.note
        }
    }
}
