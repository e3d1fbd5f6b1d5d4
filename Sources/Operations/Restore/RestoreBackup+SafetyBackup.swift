internal import Backups
internal import Files
internal import Remotes
internal import Stores
internal import SystemPackage

extension RestoreBackup {
    /// Backs up the data that a restore replaces, so that the restore can be undone; `nil` if there is nothing to back
    /// up, or if the user wants no safety backup.
    func makeSafetyBackup(
        of paths: RestorePaths,
        before plan: ArchivedBackup,
        keeping kept: Set<RelativePath>?,
        holding locks: RestoreLocks
    ) async throws -> Backup? {
        guard options.makesSafetyBackup, let live = try? StoresDirectory(paths.live) else {
            return nil
        }
        return try await makeSafetyBackup(
            of: live,
            before: plan,
            keeping: kept,
            holding: [locks.parent, locks.live].compactMap(\.self)
        )
    }

    /// Backs up a directory before something in it is replaced; `nil` if there is nothing to back up.
    func makeSafetyBackup(
        of live: StoresDirectory,
        before plan: ArchivedBackup,
        keeping kept: Set<RelativePath>?,
        holding locked: [FilePath]
    ) async throws -> Backup? {
        var backupOptions = options.backup
        backupOptions.isBeforeRestore = true
        // If the restored backup is encrypted, encrypt the safety backup too, even if the user named no recipient.
        backupOptions.isAlwaysEncrypted = BackupName.isEncrypted(plan.name)
        // The safety backup contains everything that the restore replaces, whatever the user normally excludes. Data
        // that the restore keeps is not replaced. Undoing the restore keeps it by the same rules.
        backupOptions.keptPaths = kept ?? []
        backupOptions.exclusions = try plan.exclusions()
        backupOptions.reason = "before restore of '\(BackupName.display(plan.name))'"
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
            let problems = outcome.problems.filter {
                part?.part.leads(toPrinted: $0.path) ?? true
            }
            if let error = NotSaved(problems) {
                throw RestoreError.safetyBackupFailed(error)
            }
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
