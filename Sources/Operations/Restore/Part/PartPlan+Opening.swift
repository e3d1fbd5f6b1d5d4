internal import Backups
internal import Files
internal import Remotes
internal import Stores
internal import SystemPackage

extension PartPlan {
    /// Opens a backup of which a part is to be restored: of an archive elsewhere no more is fetched than that.
    ///
    /// - Parameters:
    ///   - names: the paths that a person named.
    ///   - backup: the backup.
    ///   - folder: the folder that it is in.
    ///   - limits: limits to hold an archive of another program to.
    ///   - count: how many directories to take off the names in one; `nil` to find out.
    ///   - live: the stores directory.
    ///   - removingMissing: whether what only that has goes, if it was named.
    ///   - context: told of what is remarkable.
    /// - Returns: the opened backup, to be read on a thread that may wait, and what is restored of it.
    /// - Throws: `LookingError.noFile` if something that was named is not in it; `RestoreError`, `RemoteError`,
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
    /// Has the next backup compared with the stores of a part that was restored, and with the others as they
    /// were.
    ///
    /// - Parameters:
    ///   - plan: the backup that was restored.
    ///   - part: the paths that were exchanged.
    /// - Returns: how many backups there are; `nil` if that is not known.
    func rememberRows(of plan: ArchivedBackup, in part: RestoredPart) async -> Int? {
        guard let backups = try? await list().backups else { return nil }
        if let newest = backups.ordinary.first,
            let expected = memory.catalog.expectedRows(after: backups.ordinary, in: address)
        {
            let isRestored = { (rows: StoreRows) in part.contains(printed: rows.path) }
            let rows =
                expected.filter { !isRestored($0) } + (plan.header?.rows ?? []).filter(isRestored)
            memory.catalog.rememberExpectedRows(rows, after: newest, in: address)
        }
        return backups.count
    }
}
