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

    /// Verifies a backup's data; see `ArchivedBackup.verify`.
    func verify(_ archived: ArchivedBackup, reading subset: DataSubset = .all) throws {
        report(.began(.verifying, total: archived.bytes))
        try archived.verify(reading: subset, threads: threads, progressed: advance).forEach(note)
    }

    /// Extracts a backup into a directory that is thrown away; see `ArchivedBackup.verify`.
    func rehearse(_ archived: ArchivedBackup, into directory: Directory) throws {
        report(.began(.extracting, total: archived.bytes))
        try archived.verify(into: directory, threads: threads, progressed: advance).forEach(note)
    }

    /// Extracts a backup into an empty directory; see `ArchivedBackup.extract`.
    ///
    /// - Returns: the flush to the disk, which may still be under way.
    func extract(
        _ archived: ArchivedBackup,
        into directory: Directory
    ) throws -> BackgroundWork<Void> {
        report(.began(.extracting, total: archived.bytes))
        let (remarks, flush) = try archived.extract(
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
    /// Throws if the files would not fit, which is better told before than half-way.
    func checkSpace(at path: FilePath) throws {
        let available = try Directory.open(path).availableSpace()
        guard bytes <= available else {
            throw RestoreError.tooLarge(path, needed: bytes, available: available)
        }
    }
}
