internal import Files
package import Foundation
package import Remotes
package import SystemPackage

// Archives that come from elsewhere. The caller of all of these has the staging directory locked.
extension BackupFolder {
    /// An archive that was verified and is to become a backup.
    package struct Arrival {
        /// The place of its file.
        package enum Place {
            /// A hidden name in the folder.
            case hidden(String)
            /// This machine, from where it goes only when it is there.
            case here(FilePath)
        }

        package var place: Place
        /// Everything that is known of it; its file has the name that it would like.
        package var backup: Backup
        /// `nil` if there is nothing to write beside it.
        package var annotation: Annotation?

        package init(_ place: Place, backup: Backup, annotation: Annotation?) {
            self.place = place
            self.backup = backup
            self.annotation = annotation
        }
    }

    /// Throws `BackupFolderError.needed` if others are built on a backup, which would lose it.
    package func refuseNeeded(_ backup: Backup, among backups: [Backup]) throws {
        let dependants = Dependence(of: backups, by: backups).dependants(of: backup)
        guard dependants.isEmpty else {
            throw BackupFolderError.needed(
                backup.displayName,
                by: dependants.map(\.displayName)
            )
        }
    }

    /// Returns a backup of which nothing is known but its archive.
    ///
    /// - Throws: `ArchiveError`, `ArchivedBackupError` if its manifest cannot be read, unless it is known
    ///   to be damaged.
    package func backup(
        _ file: RemoteFile,
        of archived: ArchivedBackup,
        damaged: Bool = false
    ) throws -> Backup {
        var backup = Backup(file, timeZone: timeZone)
        backup.id = archived.id
        backup.isForeign = archived.header == nil
        guard let header = archived.header else { return backup }
        backup.take(header)
        do {
            backup.content = try archived.trailer()?.content
        } catch  where damaged {}
        return backup
    }

    /// Looks for the backup of this folder that is the same as another folder's.
    ///
    /// - Parameters:
    ///   - other: the other folder's, whose identity is known.
    ///   - content: its content, as far as that is known.
    ///   - backups: those of this folder.
    ///   - ofAnySize: whether the archive may be encrypted for others, and have another size.
    ///   - opening: opens one of this folder whose identity is not known, but whose size is the same.
    /// - Returns: the one of the same identity, size and content, which is not known to be damaged unless
    ///   the other is.
    /// - Throws: `RemoteError`, `CancellationError`.
    package func backup(
        sameAs other: Backup,
        content: String?,
        among backups: [Backup],
        ofAnySize: Bool = false,
        opening: (Backup) async throws -> ArchivedBackup
    ) async throws -> Backup? {
        guard let id = other.id else { return nil }
        for var backup in backups
        where (ofAnySize ? backup.isEncrypted : backup.size == other.size)
            && (backup.archiveDamage == nil || other.archiveDamage != nil)
        {
            if backup.id == nil {
                do {
                    backup = try await self.backup(backup.file, of: opening(backup))
                } catch let error where error is RemoteError || error is CancellationError {
                    throw error
                } catch {
                    // A file that is no archive is no backup, and so not the same.
                    continue
                }
            }
            guard backup.id == id else { continue }
            let found = self.content(of: backup)
            if found == content || found == nil || content == nil { return backup }
        }
        return nil
    }

    /// Gives an archive its name, so that it can be seen.
    ///
    /// Everything beside it is written before.
    /// - Parameters:
    ///   - arrival: the archive.
    ///   - sameName: what to do if its name is taken.
    ///   - date: now.
    /// - Returns: the backup, one that moved to the trash for it, and problems: a loss of power may undo it.
    /// - Throws: `BackupFolderError.pinned`, `.needed`, `.taken`; `RemoteError`, `FileError`: the archive is
    ///   where it was, and so is the other one.
    package func reveal(
        _ arrival: Arrival,
        _ sameName: SameName,
        at date: Date
    ) async throws -> (backup: Backup, replaced: Backup?, problems: [Problem]) {
        let backups = try await list().backups
        // A deleted backup may come back under its name.
        var reserved = try await trashedNames { _ in }
        var replaced: Backup?
        if let other = backups.first(where: { $0.name == arrival.backup.name }) {
            switch sameName {
            case .number: break
            case .fail: throw BackupFolderError.taken(other.displayName, address: address)
            case .replace:
                guard !other.isPinned else { throw BackupFolderError.pinned(other.displayName) }
                if other.id == nil || other.id != arrival.backup.id {
                    try refuseNeeded(other, among: backups)
                }
                replaced = other
            }
        }
        if sameName == .number {
            reserved.formUnion(backups.map(\.name))
        } else {
            reserved = []
        }
        while true {
            do {
                return try await reveal(arrival, except: reserved, replacing: replaced, at: date)
            } catch RemoteError.exists(_, let name) where sameName == .number {
                reserved.insert(name)
            }
        }
    }

    private func reveal(
        _ arrival: Arrival,
        except reserved: Set<String>,
        replacing other: Backup?,
        at date: Date
    ) async throws -> (backup: Backup, replaced: Backup?, problems: [Problem]) {
        var backup = arrival.backup
        var name = backup.name
        while reserved.contains(name) { name = BackupName.next(after: name) }
        let location = backup.file.location?.removingLastComponent().appending(name)
        let hash = backup.file.hash
        backup.file = RemoteFile(name: name, size: backup.size, location: location)
        backup.file.hash = hash
        var problems: [Problem?] = []
        if let annotation = arrival.annotation {
            var annotations = try await annotations()
            try await annotations.adopt(annotation, of: backup, at: date)
            var annotated = [backup]
            annotations.annotate(&annotated)
            backup = annotated[0]
            problems.append(annotations.notSynced?.problem)
        }
        if let other {
            problems.append(
                try await RemoteError.problem { try await trash.put(other.name, at: date) }
            )
        }
        do {
            problems.append(
                try await RemoteError.problem {
                    switch arrival.place {
                    case .hidden(let hidden):
                        try await remote.move(hidden, to: remote, as: name)
                    case .here(let path): backup.file = try await remote.upload(path, as: name)
                    }
                }
            )
        } catch {
            // Nothing took its place.
            if let other { _ = try? await bringBack(other.name) }
            throw error
        }
        memory.catalog.remember(backup, in: address)
        return (backup, other, problems.compactMap(\.self))
    }

    /// Gives a backup the name of another one, which moves to the trash.
    ///
    /// At every moment one of them is in the list, whole; one whose name is taken away can come back.
    /// - Parameters:
    ///   - other: the one whose name it gets.
    ///   - backup: one of the folder, with a name of its own.
    ///   - date: now.
    /// - Returns: the backup with its new name, and problems: a loss of power may undo it.
    /// - Throws: `RemoteError`; the backup keeps its own name, and the other one is where it was as far as the
    ///   folder allows that.
    package func replace(
        _ other: Backup,
        by backup: Backup,
        at date: Date
    ) async throws -> (backup: Backup, problems: [Problem]) {
        var problems = [try await remove(other, at: date, keepingTrash: .seconds(1))]
        do {
            problems.append(
                try await RemoteError.problem {
                    try await remote.move(backup.name, to: remote, as: other.name)
                }
            )
        } catch {
            _ = try? await bringBack(other.name)
            throw error
        }
        var renamed = backup
        renamed.file.name = other.name
        renamed.file.location = backup.file.location?.removingLastComponent().appending(other.name)
        memory.catalog.remember(in: address) {
            $0.take(backup.name)
            $0.give(other.name)
            $0.replace(other.name, at: date)
        }
        memory.catalog.remember(renamed, in: address)
        return (renamed, problems.compactMap(\.self))
    }
}
