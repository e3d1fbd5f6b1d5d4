internal import Archives
internal import Backups
internal import Files
internal import Foundation
internal import History
internal import Remotes
internal import SystemPackage

/// Adds an archive from elsewhere to a folder, which the caller has locked.
///
///     fetch → verify → upload under a hidden name → read back → tags, note, pin → its name
///
/// Only archives that are known to be complete become visible in the folder. A killed run leaves only hidden files,
/// which the next run removes.
struct ReceiveArchive {
    /// The result.
    struct Outcome {
        var backup: Backup
        /// Whether the folder already had it.
        var wasThere = false
        /// The backup that was moved to the trash to free the name.
        var replaced: Backup?
        /// The problems that occurred although the archive is there.
        var problems: [Problem] = []
    }

    /// An archive in the folder's staging directory.
    struct Parcel {
        var path: FilePath
        /// The opened archive; `nil` if it is damaged, or cannot be read here.
        var archived: ArchivedBackup?
        /// The damage found.
        var damage: String?
        /// The error if no key opens it, or if its compression is unknown here.
        var sealed: (any Error)?
    }

    let folder: BackupFolder
    let sameName: SameName
    let date: Date
    let context: OperationContext

    /// Runs `body` with an archive that was fetched and verified; removes its file afterwards.
    ///
    /// - Parameters:
    ///   - name: the archive's name, for messages.
    ///   - limits: the limits that it must not exceed; `nil` for an archive of ours.
    ///   - plain: the file to read in place. It is not fetched because it will be encrypted, and a cloud service may
    ///     read the folder's staging directory. `nil` fetches it.
    ///   - fetch: writes the archive to a new file.
    ///   - body: takes the archive.
    /// - Returns: the result of `body`.
    /// - Throws: an error that keeps the archive from being read; errors of `fetch` and `body`.
    func withParcel<Result>(
        named name: String,
        holdingTo limits: RestoreLimits? = nil,
        readingInPlace plain: FilePath? = nil,
        fetch: (FilePath) async throws -> Void,
        _ body: (Parcel) async throws -> Result
    ) async throws -> Result {
        let fetched = folder.staging.appending(PartialName.make())
        defer { try? LocalFileSystem().remove(fetched) }
        let path = plain ?? fetched
        if plain == nil { try await fetch(path) }
        var parcel = Parcel(path: path)
        do {
            let archived = try ArchivedBackup(
                path,
                name: name,
                keys: folder.keys,
                holdingTo: limits
            )
            parcel.archived = archived
            try context.verifyQuietly(archived)
        } catch let error where error.isOfKeys || error.isOfCompression {
            (parcel.archived, parcel.sealed) = (nil, error)
        } catch let error where error.reportsDamage {
            parcel.damage = explain(error)
        }
        return try await body(parcel)
    }

    /// Returns the folder's backup that equals another one; see `BackupFolder.backup(sameAs:)`.
    func same(
        as other: Backup,
        content: String?,
        among backups: [Backup],
        ofAnySize: Bool = false
    ) async throws -> Backup? {
        try await folder.backup(
            sameAs: other,
            content: content,
            among: backups,
            ofAnySize: ofAnySize
        ) {
            try await context.open($0, in: folder)
        }
    }

    /// Adds a parcel to the folder.
    ///
    /// - Parameters:
    ///   - parcel: the archive.
    ///   - backup: the facts about it; its file has the preferred name.
    ///   - annotation: the annotation to write beside it.
    ///   - others: the folder's backups.
    /// - Returns: the new backup.
    /// - Throws: `MovingError.readBackDiffers`, `BackupFolderError`, `RemoteError`, `FileError`; nothing is added to
    ///   the folder then.
    func put(
        _ parcel: Parcel,
        as backup: Backup,
        _ annotation: Annotation?,
        among others: [Backup]
    ) async throws -> Outcome {
        try LocalFileSystem().sync(parcel.path)
        // In a local folder, the verified file itself gets the name.
        let local = folder.remote.directory
        let uploaded =
            local == nil ? try await upload(parcel.path, named: backup.displayName) : nil
        do {
            var backup = backup
            backup.file.hash = uploaded?.hash
            backup.file.location = local?.appending(backup.name)
            let (new, replaced, problems) = try await Arrival(
                uploaded.map { .hidden($0.name) } ?? .here(parcel.path),
                backup: backup,
                annotation: annotation
            ).reveal(in: folder, sameName, at: date)
            rememberRows(of: new, parcel, among: others)
            if parcel.damage == nil, parcel.archived != nil {
                // A copy of a damaged archive stays suspect until all of it has been read.
                await context.rememberCheck(of: new, in: folder, damage: nil, at: date)
            }
            context.reportProblems(problems)
            return Outcome(backup: new, replaced: replaced, problems: problems)
        } catch {
            if let uploaded { try? await folder.remote.delete(uploaded.name) }
            throw error
        }
    }

    /// Uploads an archive under a hidden name, reads it back, and returns its file.
    private func upload(_ path: FilePath, named name: String) async throws -> RemoteFile {
        let hidden = folder.remote.makePartialName()
        let digest = try Digest(contentsOf: path) { _ in try context.checkCancellation() }
        context.report(.began(.uploading, total: nil))
        do {
            let uploaded = try await folder.remote.upload(path, as: hidden)
            context.report(.began(.verifying, total: nil))
            defer { try? LocalFileSystem().remove(path) }
            try await folder.remote.download(hidden, to: path)
            guard try Digest(contentsOf: path, progressed: context.advance) == digest else {
                throw MovingError.readBackDiffers(name, address: folder.address)
            }
            return uploaded
        } catch {
            try? await folder.remote.delete(hidden)
            throw error
        }
    }

    /// Makes the next backup compare its rows with this one's, if this one is the newest.
    private func rememberRows(of backup: Backup, _ parcel: Parcel, among others: [Backup]) {
        guard let header = parcel.archived?.header, let time = backup.time, parcel.damage == nil,
            !backup.isSafety, folder.owns(backup),
            folder.own(others).ordinary.allSatisfy({ $0.time.map { $0 <= time } ?? true })
        else { return }
        folder.rememberExpectedData(header.expectedNext, after: backup)
    }
}

extension OperationContext {
    /// Records, as a check does, that all data of a backup was read; the folder must be locked.
    ///
    /// If that fails, only this record is lost.
    func rememberCheck(
        of backup: Backup,
        in folder: BackupFolder,
        damage: String?,
        at date: Date
    ) async {
        let check = RunLog.Check(
            of: backup,
            in: folder.address,
            at: date,
            depth: .data,
            damage: damage
        )
        do {
            try folder.memory.log?.recordCheck(check)
            if damage != nil { try await folder.notes.note(check, of: backup) }
        } catch {
            warn("the findings in '\(backup.displayName)' were not noted: \(explain(error))")
        }
    }

    /// Verifies a backup's data without remarks about data that a restore would leave out.
    func verifyQuietly(_ archived: ArchivedBackup) throws {
        report(.began(.verifying, total: archived.bytes))
        _ = try archived.verify(threads: threads, progressed: advance)
    }
}
