public import Backups
internal import Files
internal import History
internal import Remotes
internal import Stores
internal import SystemPackage

extension OperationContext {
    /// Returns the paths that a restore replaced, by the safety backup that it made; empty if it replaced everything.
    ///
    /// - Throws: see `BackupFolder.look`.
    public func replacedPaths(
        before safety: Backup,
        in folder: BackupFolder
    ) async throws -> [String] {
        try await look(at: safety, in: folder.home(of: safety)) { $0.header?.replaced ?? [] }
    }

    /// Records that a restore changed nothing, so that its safety backup undoes none; a failure is reported.
    func noteFutile(_ safety: String?, in log: RunLog?) {
        guard let safety, let log else { return }
        do {
            try log.recordFutileRestore(safety: safety)
        } catch {
            warn("'restore --undo' will take this restore for the last one: \(explain(error))")
        }
    }
}

extension RestoreBackup {
    /// A backup of the data that a restore replaces.
    struct SafetyBackup {
        /// The backup; `nil` if there is nothing to back up, or if the user wants none.
        var backup: Backup?
        /// The paths that the restore keeps; `nil` if the restored backup excluded nothing.
        var kept: Set<RelativePath>?
        /// The data as it was before the backup; `nil` if the user wants none.
        var look: DirectoryLook?
    }

    /// Backs up the data that a restore replaces, so that the restore can be undone.
    func makeSafetyBackup(
        of paths: RestorePaths,
        before plan: RestorePlan,
        _ locks: RestoreLocks
    ) async throws -> SafetyBackup {
        let (archived, part) = (plan.archived, plan.roots)
        let kept = try KeepingPlan(of: archived, paths, part: part, context)?.announce(context)
        guard options.makesSafetyBackup, let live = try? StoresDirectory(paths.live) else {
            return SafetyBackup(kept: kept)
        }
        let exclusions = try archived.exclusions()
        let look = try DirectoryLook(at: live, of: plan.roots, but: kept ?? [], exclusions)
        let backup = try await makeSafetyBackup(
            of: live,
            before: archived,
            part: part,
            replacing: options.only,
            keeping: kept,
            holding: [locks.parent, locks.live].compactMap(\.self)
        )
        return SafetyBackup(backup: backup, kept: kept, look: look)
    }

    /// Throws if something was written that the safety backup may lack, even if its writer has ended since.
    ///
    /// - Parameters:
    ///   - safety: the safety backup.
    ///   - plan: the restore.
    ///   - place: the directory that has the data now, before or after the exchange.
    ///   - live: the stores directory, for messages.
    /// - Throws: `RestoreError.changed`, unless the user restores into stores in use; `FileError`.
    func refuseIfChanged(
        since safety: SafetyBackup,
        _ plan: RestorePlan,
        in place: FilePath,
        of live: FilePath
    ) throws {
        guard let before = safety.look else { return }
        // If nothing was moved out of the way, there is no directory for it.
        let now = try FileInfo.ifPresent(place).map { _ in
            try DirectoryLook(
                at: StoresDirectory(place),
                of: plan.roots,
                but: safety.kept ?? [],
                plan.archived.exclusions()
            )
        }
        if now?.isSame(as: before) ?? before.isEmpty { return }
        let error = RestoreError.changed(now?.newest?.below(live) ?? live)
        guard options.force else { throw error }
        context.warn("\(error): the safety backup may lack that change")
    }

    /// Backs up a directory before something in it is replaced; `nil` if there is nothing to back up.
    func makeSafetyBackup(
        of live: StoresDirectory,
        before archived: ArchivedBackup,
        part: RestoredPart? = nil,
        replacing replaced: [String],
        keeping kept: Set<RelativePath>?,
        holding locked: [FilePath]
    ) async throws -> Backup? {
        var backupOptions = options.backup
        backupOptions.isBeforeRestore = true
        backupOptions.replaced = replaced
        // If the restored backup is encrypted, encrypt the safety backup too, even if the user named no recipient.
        backupOptions.isAlwaysEncrypted = BackupName.isEncrypted(archived.name)
        // The safety backup contains everything that the restore replaces, whatever the user normally excludes. Data
        // that the restore keeps is not replaced. Undoing the restore keeps it by the same rules.
        backupOptions.keptPaths = kept ?? []
        backupOptions.exclusions = try archived.exclusions()
        backupOptions.reason = "before restore of '\(BackupName.display(archived.name))'"
        do {
            let outcome = try await CreateBackup(
                of: live.path,
                to: folder,
                options: backupOptions,
                context: context
            ).runLocked(live, holding: locked)
            // Do not rely on a backup that may be lost in a crash.
            if let error = outcome.notSynced { throw RestoreError.safetyBackupFailed(error) }
            // A problem with a file outside the restored part does not matter, because that file stays.
            let problems = outcome.problems.filter { part?.leads(toPrinted: $0.path) ?? true }
            if let error = NotSaved(problems) { throw RestoreError.safetyBackupFailed(error) }
            return outcome.backup
        } catch OperationError.nothingToBackUp {
            return nil
        } catch OperationError.backupFailed(let error) {
            throw RestoreError.safetyBackupFailed(error)
        } catch let error as OperationError {
            throw RestoreError.safetyBackupFailed(error)
        }
    }
}
