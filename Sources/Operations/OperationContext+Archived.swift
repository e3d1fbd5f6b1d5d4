internal import Archives
internal import Backups
internal import Files
internal import SystemPackage

extension OperationContext {
    /// Opens a backup; reports if its archive is fetched, and if its manifest does not describe it.
    ///
    /// - Parameters:
    ///   - backup: a backup of the folder.
    ///   - folder: its folder.
    ///   - limits: see `BackupFolder.open`.
    ///   - isAlone: whether to open an increment without its base backups.
    /// - Returns: the opened backup.
    /// - Throws: see `BackupFolder.open`; `ArchivedBackupError.distrusted` if it was listed with a trusted signature,
    ///   and has none.
    func open(
        _ backup: Backup,
        in folder: BackupFolder,
        holdingTo limits: RestoreLimits? = nil,
        alone isAlone: Bool = false
    ) async throws -> ArchivedBackup {
        let archived = try await folder.open(backup, alone: isAlone, holdingTo: limits) {
            report(.began(.fetching, total: $0))
        }
        try folder.refuseDistrusted(archived, openedAs: backup)
        if limits != nil, let remark = archived.originRemark { note(remark) }
        return archived
    }

    /// Reads the directory and the manifest of a backup; see `BackupFolder.look`.
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

    /// Verifies a backup's data, or some entries with their total size in bytes; see `ArchivedBackup.verify`.
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

    /// Extracts a backup into a temporary directory; see `ArchivedBackup.verify`.
    func rehearse(_ archived: ArchivedBackup, into directory: Directory) throws {
        report(.began(.extracting, total: archived.bytes))
        try archived.verify(into: directory, threads: threads, progressed: advance).forEach(note)
    }

    /// Extracts a backup, or some entries with their total size in bytes, into an empty directory; see
    /// `ArchivedBackup.extract`.
    ///
    /// - Returns: the flush to the disk, which may still be running.
    func extract(
        _ archived: ArchivedBackup,
        only part: (entries: Set<RelativePath>, bytes: Int64)? = nil,
        into directory: Directory,
        by rules: AttributeRules
    ) throws -> BackgroundWork<Void> {
        report(.began(.extracting, total: part?.bytes ?? archived.bytes))
        archived.extracting = reportsDetails ? { reportDetail("extracts '\($0)'") } : nil
        let (remarks, flush) = try archived.extract(
            only: part?.entries,
            into: directory,
            by: rules,
            threads: threads,
            progressed: advance
        )
        remarks.forEach(note)
        return flush
    }

    /// Reports progress, and throws if the user wants to stop.
    func advance(_ bytes: Int64) throws {
        try checkCancellation()
        report(.advanced(bytes))
    }
}

extension ArchivedBackup {
    /// Throws if the files, or some of them with a given size in bytes, would not fit, before the work starts.
    func checkSpace(for some: Int64? = nil, at path: FilePath) throws {
        var needed = some ?? bytes
        let available = try Directory.open(path).availableSpace()
        if needed > available, some == nil {
            // Holes need no space.
            needed = 0
            try forEach { needed += $0.attributes.kind == .file ? $0.allocatedSize : 0 }
        }
        guard needed <= available else {
            throw RestoreError.tooLarge(path, needed: needed, available: available)
        }
    }
}
