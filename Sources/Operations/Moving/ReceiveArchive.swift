internal import Archives
internal import Backups
internal import Files
internal import Foundation
internal import History
internal import Remotes
internal import SystemPackage

/// Takes an archive of elsewhere into a folder, which the caller has locked.
///
///     fetch → verify → upload under a hidden name → read back → tags, note, pin → its name
///
/// Nothing that is not known to be whole can be seen in the folder, and a killed run leaves hidden files
/// only, which the next run removes.
struct ReceiveArchive {
    /// The end that it came to.
    struct Outcome {
        var backup: Backup
        /// Whether the folder had it.
        var wasThere = false
        /// The backup that moved to the trash for its name.
        var replaced: Backup?
        /// Everything that is not as it should be although the archive is there.
        var problems: [Problem] = []
    }

    /// An archive in the folder's staging directory.
    struct Parcel {
        var path: FilePath
        /// `nil` if it cannot be opened: it is damaged, or encrypted and there is no key.
        var archived: ArchivedBackup?
        /// The damage that was found in it.
        var damage: String?
        /// Why no key opens it.
        var sealed: (any Error)?
    }

    let folder: BackupFolder
    let sameName: SameName
    let date: Date
    let context: OperationContext

    /// Runs `body` with an archive that is fetched and was looked at; its file goes afterwards.
    ///
    /// - Parameters:
    ///   - name: the archive's name, for messages.
    ///   - limits: limits to hold it to; `nil` for one of ours.
    ///   - plain: where it is read in place of being fetched, since it will be encrypted: the folder's
    ///     staging directory may be one that a cloud reads. `nil` fetches it.
    ///   - fetch: writes it to a new file.
    ///   - body: takes it.
    /// - Returns: what `body` returns.
    /// - Throws: an error that keeps it from being looked at; what `fetch` and `body` throw.
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
        } catch let error where error.tellsDamage {
            parcel.damage = explain(error)
        } catch let error where error.isOfKeys {
            parcel.sealed = error
        }
        return try await body(parcel)
    }

    /// Returns the backup of the folder that is the same as another one; see
    /// `BackupFolder.backup(sameAs:)`.
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

    /// Puts a parcel into the folder.
    ///
    /// - Parameters:
    ///   - parcel: the archive.
    ///   - backup: what is known of it; its file has the name that it would like.
    ///   - annotation: what to write beside it.
    ///   - others: the folder's backups.
    /// - Returns: the backup that it became.
    /// - Throws: `MovingError.readBackDiffers`, `BackupFolderError`, `RemoteError`, `FileError`; nothing is
    ///   added to the folder then.
    func put(
        _ parcel: Parcel,
        as backup: Backup,
        _ annotation: Annotation?,
        among others: [Backup]
    ) async throws -> Outcome {
        try LocalFileSystem().sync(parcel.path)
        // On this machine, the file that was verified is the one that gets the name.
        let local = folder.remote as? LocalFolder
        let uploaded =
            local == nil ? try await upload(parcel.path, named: backup.displayName) : nil
        do {
            var backup = backup
            backup.file.hash = uploaded?.hash
            backup.file.location = local?.path.appending(backup.name)
            let (new, replaced, problems) = try await folder.reveal(
                .init(
                    uploaded.map { .hidden($0.name) } ?? .here(parcel.path),
                    backup: backup,
                    annotation: annotation
                ),
                sameName,
                at: date
            )
            rememberRows(of: new, parcel, among: others)
            if parcel.damage == nil, parcel.archived != nil {
                // A copy of a damaged archive is suspected until somebody has read all of it.
                await context.rememberCheck(of: new, in: folder, damage: nil, at: date)
            }
            context.tell(problems)
            return Outcome(backup: new, replaced: replaced, problems: problems)
        } catch {
            if let uploaded { try? await folder.remote.delete(uploaded.name) }
            throw error
        }
    }

    /// Puts an archive into the folder under a hidden name, and returns its file once its bytes are known
    /// to be there.
    private func upload(_ path: FilePath, named name: String) async throws -> RemoteFile {
        let hidden = folder.remote.makePartialName()
        let digest = try Digest(
            contentsOf: path,
            progressed: { _ in
                try context.checkCancellation()
            }
        )
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

    /// Has the next backup compared with this one, if it is the newest.
    private func rememberRows(of backup: Backup, _ parcel: Parcel, among others: [Backup]) {
        guard let header = parcel.archived?.header, let time = backup.time, parcel.damage == nil,
            !backup.isSafety,
            others.ordinary.allSatisfy({ $0.time.map { $0 <= time } ?? true })
        else { return }
        let rows = header.successorRows
        folder.memory.catalog.rememberExpectedRows(rows, after: backup, in: folder.address)
    }
}

extension OperationContext {
    /// Remembers that all data of a backup was read, as a check does; the folder is locked.
    ///
    /// If that fails, no more is lost than this knowledge.
    func rememberCheck(
        of backup: Backup,
        in folder: BackupFolder,
        damage: String?,
        at date: Date
    ) async {
        let check = RunLog.Check(
            id: backup.key.rawValue,
            address: folder.address,
            name: backup.name,
            time: date,
            depth: .data,
            damage: damage
        )
        do {
            try folder.memory.log?.recordCheck(check)
            if damage != nil { try await folder.note(check, of: backup) }
        } catch {
            warn("what was found in '\(backup.displayName)' was not noted: \(explain(error))")
        }
    }

    /// Verifies a backup's data without remarks on what a restore of it would leave out.
    func verifyQuietly(_ archived: ArchivedBackup) throws {
        report(.began(.verifying, total: archived.bytes))
        _ = try archived.verify(threads: threads, progressed: advance)
    }
}
