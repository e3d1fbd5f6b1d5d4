internal import Files
package import Foundation
internal import Remotes
package import SystemPackage

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

    /// Gives the archive its name, so that it becomes visible.
    ///
    /// The annotation is written before.
    /// - Parameters:
    ///   - folder: the folder.
    ///   - sameName: the action if its name is taken.
    ///   - date: now.
    /// - Returns: the backup, the one that moved to the trash for it, and problems if a loss of power may undo the
    ///   change.
    /// - Throws: `BackupFolderError.pinned`, `.needed`, `.taken`; `RemoteError`, `FileError`. Both backups are where
    ///   they were then.
    package func reveal(
        in folder: BackupFolder,
        _ sameName: SameName,
        at date: Date
    ) async throws -> (backup: Backup, replaced: Backup?, problems: [Problem]) {
        let backups = try await folder.list().backups
        // A deleted backup may come back under its name.
        var reserved = try await folder.trash.names { _ in }
        var replaced: Backup?
        if let other = backups.first(where: { $0.name.exact == backup.name.exact }) {
            switch sameName {
            case .number: break
            case .fail: throw BackupFolderError.taken(other.displayName, address: folder.address)
            case .replace:
                guard !other.isPinned else { throw BackupFolderError.pinned(other.displayName) }
                if other.id == nil || other.id != backup.id {
                    try Dependence(of: backups, by: backups).refuseRemoval(of: other)
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
                return try await reveal(in: folder, except: reserved, replacing: replaced, at: date)
            } catch RemoteError.exists(_, let name) where sameName == .number {
                reserved.insert(name.exact)
            }
        }
    }

    private func reveal(
        in folder: BackupFolder,
        except reserved: Set<ExactString>,
        replacing other: Backup?,
        at date: Date
    ) async throws -> (backup: Backup, replaced: Backup?, problems: [Problem]) {
        var backup = backup
        var name = backup.name
        while reserved.contains(name.exact) { name = BackupName.next(after: name) }
        let location = backup.file.location?.removingLastComponent().appending(name)
        let hash = backup.file.hash
        backup.file = RemoteFile(name: name, size: backup.size, location: location)
        backup.file.hash = hash
        var problems: [Problem?] = []
        if let other {
            problems.append(try await folder.remove(other, at: date, keepingTrash: .seconds(1)))
        }
        do {
            // Its name is no other backup's now.
            if let annotation {
                var annotations = try await folder.annotations()
                try await annotations.adopt(annotation, of: backup, at: date)
                var annotated = [backup]
                annotations.annotate(&annotated)
                backup = annotated[0]
                problems.append(annotations.notSynced?.problem)
            }
            problems.append(
                try await RemoteError.problem {
                    switch place {
                    case .hidden(let hidden):
                        try await folder.remote.move(hidden, to: folder.remote, as: name)
                    case .here(let path):
                        backup.file = try await folder.remote.upload(path, as: name)
                    }
                }
            )
        } catch {
            // The other backup comes back, since nothing replaced it.
            if let other { _ = try? await folder.trash.bringBack(other.name) }
            throw error
        }
        folder.memory.catalog.remember(name, isTaken: false, in: folder.address)
        folder.memory.catalog.remember(backup, in: folder.address)
        return (backup, other, problems.compactMap(\.self))
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
