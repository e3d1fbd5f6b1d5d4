internal import Foundation
internal import Remotes

/// An archive that is written and has no name yet.
struct WrittenArchive {
    var header: ManifestHeader?
    var trailer: ManifestTrailer
    var stores: Int
}

extension CreateBackup {
    /// The newest backup, where none has to be made since it has all that was written, and no more.
    ///
    /// It must be good as far as that is known, and be there yet: on this machine it is opened, so that
    /// one that cannot be is no reason to make none.
    func unchanged(_ written: WrittenArchive, since backups: [Backup]) async throws -> Backup? {
        guard options.skipsUnchanged, written.trailer.problems.isEmpty,
            let header = written.header, header.anomalies == nil,
            let newest = backups.notFromFuture(options.date).first, newest.damage == nil
        else { return nil }
        var root = newest.root
        if let location = newest.file.location {
            guard let contents = try? BackupContents(location, name: newest.name) else {
                return nil
            }
            root = contents.header?.root
        }
        guard root == header.root, let content = written.trailer.content,
            catalog.content(of: newest, in: remote.address) == content,
            // Another machine may have deleted it, which our lock does not keep out.
            try await remote.list().contains(where: {
                $0.name == newest.name && $0.size == newest.size
            })
        else { return nil }
        return newest
    }

    /// Says of a backup what was to be said of the one that is not made.
    ///
    /// - Returns: the backup as it is now, and whether anything of that is new.
    func annotate(_ backup: Backup) async throws -> (Backup, Bool) {
        guard !options.tags.isEmpty || options.note != nil else { return (backup, false) }
        var annotations = try await Annotations(of: remote)
        let before = annotations.annotation(of: backup.file)
        try await annotations.change(backup.name, size: backup.size, at: options.date) {
            for tag in options.tags where !$0.tags.contains(tag) { $0.tags.append(tag) }
            $0.note = options.note ?? $0.note
        }
        var annotated = backup
        annotations.annotate(&annotated)
        return (annotated, annotations.annotation(of: backup.file) != before)
    }
}
