internal import Files
package import Foundation
package import Remotes
package import SystemPackage

// Archives that come from another place. The caller of each of these methods holds the lock on the staging directory.
extension BackupFolder {
    /// A verified archive that will become a backup.
    package struct Arrival {
        /// The place of its file.
        package enum Place {
            /// A hidden name in the folder.
            case hidden(String)
            /// A file on this machine. It is moved to the folder only when the backup is revealed.
            case here(FilePath)
        }

        package var place: Place
        /// The backup with everything known about it; its file has the wanted name.
        package var backup: Backup
        /// The annotation to write; `nil` for none.
        package var annotation: Annotation?

        package init(_ place: Place, backup: Backup, annotation: Annotation?) {
            self.place = place
            self.backup = backup
            self.annotation = annotation
        }
    }

    /// Throws `BackupFolderError.needed` if other backups are built on this one, which would be lost.
    package func refuseNeeded(_ backup: Backup, among backups: [Backup]) throws {
        let dependants = Dependence(of: backups, by: backups).dependants(of: backup)
        guard dependants.isEmpty else {
            throw BackupFolderError.needed(
                backup.displayName,
                by: dependants.map(\.displayName)
            )
        }
    }

    /// Returns the backup of an archive, with the facts from the archive alone.
    ///
    /// - Throws: `ArchiveError`, `ArchivedBackupError` if its manifest cannot be read and the archive is not known to
    ///   be damaged.
    package func backup(
        _ file: RemoteFile,
        of archived: ArchivedBackup,
        damaged: Bool = false
    ) throws -> Backup {
        var backup = Backup(file, timeZone: timeZone)
        backup.id = archived.id
        backup.isForeign = archived.header == nil
        guard let header = archived.header else { return backup }
        backup.take(header, archived.signature)
        keys.judge(&backup)
        do {
            backup.summary.content = try archived.trailer()?.content
        } catch  where damaged {}
        return backup
    }

    /// Finds the backup of this folder that is the same as another folder's.
    ///
    /// - Parameters:
    ///   - other: the backup of the other folder, whose identity is known.
    ///   - content: the digest of its content, if known.
    ///   - backups: the backups of this folder.
    ///   - ofAnySize: whether the sizes may differ, since the archive may be encrypted for other recipients.
    ///   - opening: opens a backup of this folder that may be the same and whose identity is unknown.
    /// - Returns: the backup of the same identity, size and content. It has no known damage unless the other has.
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
                    // A file that is no archive cannot be the same backup.
                    continue
                }
            }
            guard backup.id == id else { continue }
            let found = self.content(of: backup)
            if found == content || found == nil || content == nil { return backup }
        }
        return nil
    }

    /// Gives an archive its name, so that it becomes visible.
    ///
    /// The annotation is written before.
    /// - Parameters:
    ///   - arrival: the archive.
    ///   - sameName: the action if its name is taken.
    ///   - date: now.
    /// - Returns: the backup, the one that moved to the trash for it, and problems if a loss of power may undo the
    ///   change.
    /// - Throws: `BackupFolderError.pinned`, `.needed`, `.taken`; `RemoteError`, `FileError`. Both backups are where
    ///   they were then.
    package func reveal(
        _ arrival: Arrival,
        _ sameName: SameName,
        at date: Date
    ) async throws -> (backup: Backup, replaced: Backup?, problems: [Problem]) {
        let backups = try await list().backups
        // A deleted backup may come back under its name.
        var reserved = try await trashedNames { _ in }
        var replaced: Backup?
        if let other = backups.first(where: { $0.name.exact == arrival.backup.name.exact }) {
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
            reserved.formUnion(backups.map(\.name.exact))
        } else {
            reserved = []
        }
        while true {
            do {
                return try await reveal(arrival, except: reserved, replacing: replaced, at: date)
            } catch RemoteError.exists(_, let name) where sameName == .number {
                reserved.insert(name.exact)
            }
        }
    }

    private func reveal(
        _ arrival: Arrival,
        except reserved: Set<ExactString>,
        replacing other: Backup?,
        at date: Date
    ) async throws -> (backup: Backup, replaced: Backup?, problems: [Problem]) {
        var backup = arrival.backup
        var name = backup.name
        while reserved.contains(name.exact) { name = BackupName.next(after: name) }
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
            problems.append(try await remove(other, at: date, keepingTrash: .seconds(1)))
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
            // The other backup comes back, since nothing replaced it.
            if let other { _ = try? await bringBack(other.name) }
            throw error
        }
        memory.catalog.remember(name, isTaken: false, in: address)
        memory.catalog.remember(backup, in: address)
        return (backup, other, problems.compactMap(\.self))
    }

    /// Gives a backup the name of another one, which moves to the trash.
    ///
    /// At every moment one of the two is listed, complete. The other one can come back under its name.
    /// - Parameters:
    ///   - other: the backup with the wanted name.
    ///   - backup: a backup of the folder with another name.
    ///   - date: now.
    /// - Returns: the backup with its new name, and problems if a loss of power may undo the change.
    /// - Throws: `RemoteError`. The backup keeps its old name, and the other one comes back if the folder allows it.
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

/// The action for an arriving archive whose name another backup of the folder has.
public enum SameName: String, Sendable, CaseIterable {
    /// The archive gets the next number, and the other backup stays.
    case number
    /// The other backup moves to the trash first.
    case replace
    /// The archive is refused.
    case fail
}
