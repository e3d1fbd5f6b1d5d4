internal import Backups
internal import Files
internal import Remotes
internal import Stores
internal import SystemPackage

extension PartPlan {
    /// Opens a backup to restore a part of it; of a remote archive, only that part is fetched.
    ///
    /// - Parameters:
    ///   - names: the paths that the user named.
    ///   - backup: the backup.
    ///   - folder: the folder that contains it.
    ///   - limits: the limits that an archive of another program must not exceed.
    ///   - count: the number of leading directories to strip from names in such an archive; `nil` to detect it.
    ///   - live: the stores directory.
    ///   - removingMissing: whether named paths that only the stores directory has are removed.
    ///   - context: the receiver of notes and warnings.
    /// - Returns: the opened backup, which must be read on a thread that may wait, and the plan of the part.
    /// - Throws: `LookingError.noFile` if a named path is not in the backup; `RestoreError`, `RemoteError`,
    ///   `CancellationError`.
    static func open(
        _ names: [String],
        of backup: Backup,
        in folder: BackupFolder,
        holdingTo limits: RestoreLimits,
        strippingOf count: Int?,
        replacing live: FilePath,
        removingMissing: Bool,
        _ context: OperationContext
    ) async throws -> (ArchivedBackup, PartPlan) {
        do {
            let live = try StoresDirectory(live)
            let opened = try await OpenedBackup(
                backup,
                in: folder,
                holdingTo: limits,
                context: context
            )
            let part = try await opened.look { opened in
                try opened.plan.strip(count, replacing: live.path, context)
                return try PartPlan(
                    of: names,
                    in: opened,
                    replacing: live,
                    removingMissing: removingMissing,
                    context
                )
            }
            return (opened.plan, part)
        } catch LookingError.damaged(let error) {
            throw RestoreError.restoreFailed(error)
        } catch let error
            where error is LookingError || error is RemoteError || error is CancellationError
        {
            throw error
        } catch {
            throw RestoreError.saying(error)
        }
    }
}

extension BackupFolder {
    /// Makes the next backup compare its data with the restored stores, and the other stores with their data before.
    ///
    /// - Parameters:
    ///   - plan: the restored backup.
    ///   - part: the exchanged paths.
    /// - Returns: the number of backups; `nil` if it is not known.
    func rememberRows(of plan: ArchivedBackup, in part: RestoredPart) async -> Int? {
        guard let backups = try? await list().backups else { return nil }
        let own = own(backups).ordinary
        if let newest = own.first, let expected = expectedRows(after: own) {
            let isRestored = { (rows: StoreRows) in part.contains(printed: rows.path) }
            let rows =
                expected.filter { !isRestored($0) } + (plan.header?.rows ?? []).filter(isRestored)
            rememberExpectedRows(rows, after: newest)
        }
        return backups.count
    }
}
