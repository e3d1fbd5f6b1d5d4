internal import Backups
internal import Files
internal import SystemPackage

extension OperationContext {
    /// Opens a backup; tells if its archive is fetched, and if its manifest does not describe it.
    ///
    /// - Parameters:
    ///   - backup: one of the folder.
    ///   - folder: its folder.
    ///   - limits: see `BackupFolder.open`.
    ///   - isAlone: whether an increment is opened without what it needs.
    /// - Returns: the opened backup.
    /// - Throws: see `BackupFolder.open`.
    func open(
        _ backup: Backup,
        in folder: BackupFolder,
        holdingTo limits: RestoreLimits? = nil,
        alone isAlone: Bool = false
    ) async throws -> ArchivedBackup {
        let open = isAlone ? folder.openAlone : folder.open
        let archived = try await open(backup, limits) { report(.began(.fetching, total: $0)) }
        if limits != nil, let remark = archived.originRemark { note(remark) }
        return archived
    }

    /// Looks at the directory and the manifest of a backup; see `BackupFolder.look`.
    func look<Result>(
        at backup: Backup,
        in folder: BackupFolder,
        holdingTo limits: RestoreLimits? = nil,
        _ body: (ArchivedBackup) throws -> Result
    ) async throws -> Result {
        try await folder.look(
            at: backup,
            holdingTo: limits,
            fetching: { report(.began(.fetching, total: $0)) },
            body
        )
    }

    /// Verifies a backup's data, or that of some entries of so many bytes; see `ArchivedBackup.verify`.
    func verify(
        _ archived: ArchivedBackup,
        only part: (entries: Set<RelativePath>, bytes: Int64)? = nil,
        reading subset: DataSubset = .all
    ) throws {
        report(.began(.verifying, total: part?.bytes ?? archived.bytes))
        try archived.verify(
            only: part?.entries,
            reading: subset,
            threads: threads,
            progressed: advance
        ).forEach(note)
    }

    /// Extracts a backup into a directory that is thrown away; see `ArchivedBackup.verify`.
    func rehearse(_ archived: ArchivedBackup, into directory: Directory) throws {
        report(.began(.extracting, total: archived.bytes))
        try archived.verify(into: directory, threads: threads, progressed: advance).forEach(note)
    }

    /// Extracts a backup, or some entries of so many bytes, into an empty directory; see `ArchivedBackup.extract`.
    ///
    /// - Returns: the flush to the disk, which may still be under way.
    func extract(
        _ archived: ArchivedBackup,
        only part: (entries: Set<RelativePath>, bytes: Int64)? = nil,
        into directory: Directory
    ) throws -> BackgroundWork<Void> {
        report(.began(.extracting, total: part?.bytes ?? archived.bytes))
        let (remarks, flush) = try archived.extract(
            only: part?.entries,
            into: directory,
            threads: threads,
            progressed: advance
        )
        remarks.forEach(note)
        return flush
    }

    /// Tells of progress, and asks whether to stop.
    func advance(_ bytes: Int64) throws {
        try checkCancellation()
        report(.advanced(bytes))
    }
}

extension ArchivedBackup {
    /// Throws if the files would not fit, or some of so many bytes, which is better told before than half-way.
    func checkSpace(for some: Int64? = nil, at path: FilePath) throws {
        let needed = some ?? bytes
        let available = try Directory.open(path).availableSpace()
        guard needed <= available else {
            throw RestoreError.tooLarge(path, needed: needed, available: available)
        }
    }
}
