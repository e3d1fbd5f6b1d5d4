internal import Archives
internal import Files
internal import Foundation
internal import Remotes
internal import SystemPackage

/// Removed backups that can come back for a while, in a hidden subfolder.
///
/// A file's name is the time of the removal and the backup's name:
/// `20261121T090100.123Z [2026-Nov-20] 09.01 AM Stores.zip`.
///
/// The caller of a method that changes it holds the lock on the folder's staging directory.
package struct Trash {
    package static let subfolder = ".grocerydude-trash"

    let folder: BackupFolder
    private let place: any RemoteFolder

    init(of folder: BackupFolder) {
        self.folder = folder
        place = folder.remote.subfolder(Self.subfolder)
    }

    /// Returns the backups in the trash, most recently removed first.
    package func entries() async throws -> [TrashedBackup] {
        try await place.list().compactMap(TrashedBackup.init).sorted { $0.deleted > $1.deleted }
    }

    /// Returns the names of the backups in the trash, before they were removed.
    ///
    /// - Parameter warn: called if the subfolder is a link or a file, which contains no backups.
    /// - Returns: the names.
    /// - Throws: `RemoteError`.
    func names(_ warn: (any Error) -> Void) async throws -> Set<ExactString> {
        do {
            return try await Set(entries().map(\.name.exact))
        } catch let error as RemoteError {
            guard case .notASubfolder = error else { throw error }
            warn(error)
            return []
        }
    }

    /// Returns the removed backup that a person means.
    ///
    /// - Parameter text: the backup's name, its display name, or a unique part of it. If several have one name, the
    ///   last removed one matches.
    /// - Returns: the removed backup.
    /// - Throws: `BackupFolderError.notInTrash`, `.ambiguous`; `RemoteError`.
    package func find(_ text: String) async throws -> TrashedBackup {
        let entries = try await entries()
        let names = Set(entries.map(\.name.exact))
        let exact = names.filter {
            $0 == text.exact || BackupName.display($0.text).exact == text.exact
        }
        let found =
            exact.isEmpty
            ? names.filter { !text.isEmpty && $0.text.utf8.contains(text.utf8) } : exact
        guard found.count < 2 else {
            let matches = found.map(\.text).sorted()
            throw BackupFolderError.ambiguous(text, matches: matches)
        }
        guard let entry = entries.first(where: { found.contains($0.name.exact) }) else {
            throw BackupFolderError.notInTrash(text, address: folder.address)
        }
        return entry
    }

    /// Returns a removed backup, with the facts from its manifest if its archive is on this machine.
    package func backup(_ entry: TrashedBackup) -> Backup {
        var file = entry.file
        file.name = entry.name
        var backup = Backup(file, timeZone: folder.timeZone)
        if let location = entry.file.location, backup.isIncrement || backup.lineage == nil,
            let found = try? ArchivedBackup.glance(
                at: location,
                name: entry.name,
                keys: folder.keys
            ),
            let header = found.header
        {
            backup.take(header, found.signature)
        }
        folder.keys.judge(&backup)
        return backup
    }

    /// Returns the name in the trash of a backup that is deleted at a time.
    static func name(of name: String, at date: Date) -> String {
        let stamp = Timestamp.rfc3339(date, in: .utc).filter { $0 != "-" && $0 != ":" }
        return "\(stamp) \(BackupName.fitting(name, FileName.longest - stamp.utf8.count - 1))"
    }

    /// Moves a backup into the trash.
    ///
    /// - Throws: `RemoteError`; the backup is in its old place or in the trash then.
    func put(_ name: String, at date: Date) async throws {
        try await folder.remote.move(name, to: place, as: Self.name(of: name, at: date))
    }

    /// Opens the archive of a removed backup, which stays, but none of the archives that it is built on.
    func open(
        _ entry: TrashedBackup,
        _ fetching: (Int64) -> Void
    ) async throws -> ArchivedBackup {
        if let location = entry.file.location {
            return try ArchivedBackup(location, name: entry.name, keys: folder.keys)
        }
        fetching(entry.size)
        let scratch = try ScratchDirectory(in: folder.workplace)
        let path = scratch.path.appending(entry.name)
        try await place.download(entry.file.name, to: path)
        return try ArchivedBackup(path, name: entry.name, keys: folder.keys, in: scratch)
    }

    /// Brings a removed backup back.
    ///
    /// - Parameter text: see `find`.
    /// - Returns: the backup, and a problem if a loss of power may undo the move.
    /// - Throws: `BackupFolderError.notInTrash`, `.ambiguous`, `.nameTaken`; `RemoteError`.
    @discardableResult
    package func bringBack(
        _ text: String
    ) async throws -> (backup: TrashedBackup, problem: Problem?) {
        let entry = try await find(text)
        return try await (entry, bringBack(entry))
    }

    /// Brings a removed backup back; see `bringBack`.
    package func bringBack(_ entry: TrashedBackup) async throws -> Problem? {
        do {
            // An unlisted backup may have the name.
            guard try await !folder.remote.has(entry.name) else {
                throw RemoteError.exists(folder.address, name: entry.name)
            }
            let trashed = backup(entry)
            var problem = try await RemoteError.problem {
                try await place.move(entry.file.name, to: folder.remote, as: entry.name)
            }
            folder.memory.catalog.remember(in: folder.address) {
                $0.forgetTrashed([entry.file.name.exact])
            }
            folder.memory.catalog.remember(entry.name, isTaken: false, in: folder.address)
            // The problem names the backup, not its file in the trash.
            problem?.path = entry.name
            var annotations = try? await folder.annotations()
            let (name, date) = (entry.file.name, entry.deleted)
            await annotations?.moveDamage(of: trashed, from: name, to: entry.name, at: date)
            return problem
        } catch RemoteError.exists {
            throw BackupFolderError.nameTaken(entry.name, address: folder.address)
        }
    }

    /// Removes backups permanently, one by one.
    ///
    /// - Parameters:
    ///   - entries: the backups.
    ///   - isToStop: returns whether to stop before the next backup.
    /// - Returns: the removed backups, and the problems with the others.
    func remove(
        _ entries: [TrashedBackup],
        until isToStop: () -> Bool
    ) async -> (removed: [TrashedBackup], problems: [Problem]) {
        var removed: [TrashedBackup] = []
        var problems: [Problem] = []
        for entry in entries where !isToStop() {
            do {
                let problem = try await RemoteError.problem {
                    try await place.delete(entry.file.name)
                }
                removed.append(entry)
                problems += problem.map { [$0] } ?? []
            } catch {
                let path = "\(Self.subfolder)/\(entry.file.name)"
                problems.append(Problem(kind: .notRemoved, path: path, reason: explain(error)))
            }
        }
        return (removed, problems)
    }
}

extension BackupFolder {
    package var trash: Trash { Trash(of: self) }
}
