internal import Backups
internal import Files
internal import Remotes
internal import Stores
internal import SystemPackage

extension RestoreBackup {
    /// Backs up the data that a restore replaces, so that the restore can be undone.
    ///
    /// - Returns: the backup, `nil` if there is nothing to back up, or if the user wants no safety backup; and the
    ///   paths that the restore keeps, `nil` if the restored backup excluded nothing.
    func makeSafetyBackup(
        of paths: RestorePaths,
        before plan: RestorePlan,
        _ locks: RestoreLocks
    ) async throws -> (Backup?, kept: Set<RelativePath>?) {
        let (archived, part) = (plan.archived, plan.roots)
        let kept = try KeepingPlan(of: archived, paths, part: part, context)?.announce(context)
        guard options.makesSafetyBackup, let live = try? StoresDirectory(paths.live) else {
            return (nil, kept)
        }
        let backup = try await makeSafetyBackup(
            of: live,
            before: archived,
            part: part,
            keeping: kept,
            holding: [locks.parent, locks.live].compactMap(\.self)
        )
        return (backup, kept)
    }

    /// Backs up a directory before something in it is replaced; `nil` if there is nothing to back up.
    func makeSafetyBackup(
        of live: StoresDirectory,
        before archived: ArchivedBackup,
        part: RestoredPart? = nil,
        keeping kept: Set<RelativePath>?,
        holding locked: [FilePath]
    ) async throws -> Backup? {
        var backupOptions = options.backup
        backupOptions.isBeforeRestore = true
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

    /// An error for a file that the safety backup lacks and the restore would destroy.
    private struct NotSaved: ExplainedError {
        let problem: Problem
        let count: Int

        init?(_ problems: [Problem]) {
            let lost = problems.filter { $0.kind == .unreadable }
            guard let first = lost.first else { return nil }
            (problem, count) = (first, lost.count)
        }

        var description: String {
            "\(problem)" + (count > 1 ? ", and \(count - 1) more" : "")
        }
    }
}
