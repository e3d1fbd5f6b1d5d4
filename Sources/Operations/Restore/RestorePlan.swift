internal import Age
public import Backups
internal import Files
internal import Stores
public import SystemPackage

/// A restore in place of a stores directory, as it is shown before it is run: the opened backup, and what it changes.
///
/// The archive is opened once: the changes are found, and the data is extracted, from the same one. What depends on
/// the present data is decided under the locks, in the run.
public struct RestorePlan {
    public let backup: Backup
    /// The stores directory that is replaced.
    public let stores: FilePath
    /// The changes that the restore would make; `nil` if they were not looked for.
    public let preview: RestorePreview?
    let archived: ArchivedBackup
    /// The part of the backup that is restored; `nil` for all of it.
    var part: PartPlan?

    /// The archive's name.
    var name: String { archived.name }

    /// The paths that are exchanged; `nil` for all.
    var roots: RestoredPart? { part?.part }

    /// The facts about the stores to restore; `nil` if no manifest has them.
    var facts: [StoreFacts]? {
        archived.header?.stores.filter { roots?.contains(printed: $0.path) ?? true }
    }

    /// Returns the stores that the restore replaces.
    func replacedStores(in live: StoresDirectory) throws -> [Store] {
        try part?.stores(in: live) ?? live.survey().stores
    }
}

extension RestoreBackup {
    /// Returns the paths that a restore replaced, by the safety backup that it made; empty if it replaced everything.
    ///
    /// - Throws: see `BackupFolder.look`.
    public func replaced(by safety: Backup) async throws -> [String] {
        try await context.look(at: safety, in: folder.home(of: safety)) {
            $0.header?.replaced ?? []
        }
    }

    /// Opens a backup to restore it in place of a stores directory, and changes nothing.
    ///
    /// - Parameters:
    ///   - backup: the backup.
    ///   - stores: the stores directory that is replaced.
    ///   - isCompared: whether to find what the restore would change.
    /// - Returns: the plan; its backup stays open as long as it is referenced.
    /// - Throws: `RestoreError`; `LookingError.noFile` if a named path is not in the backup; `RemoteError`,
    ///   `CancellationError`.
    public func plan(
        _ backup: Backup,
        to stores: FilePath,
        comparing isCompared: Bool = false
    ) async throws -> RestorePlan {
        let archived = try await open(backup, replacing: stores)
        var preview: RestorePreview?
        if isCompared, try FileInfo.ifPresent(stores) != nil {
            preview = try await RestorePreview(
                of: archived,
                in: folder,
                replacing: stores,
                only: options.only,
                removingMissing: options.isUndo,
                context: context
            )
        }
        return RestorePlan(backup: backup, stores: stores, preview: preview, archived: archived)
    }

    /// Opens a backup to restore it, perhaps in place of a directory.
    ///
    /// For a part of a remote archive, only that part is fetched; for a dry run, only its description.
    func open(_ backup: Backup, replacing live: FilePath? = nil) async throws -> ArchivedBackup {
        let prepared = { (archived: ArchivedBackup) in
            try refuseOtherSigner(of: archived)
            try archived.strip(options.stripsComponents, replacing: live, context)
            return archived
        }
        do {
            guard options.only.isEmpty else {
                return try await OpenedBackup(
                    backup,
                    in: folder,
                    holdingTo: options.limits,
                    context: context
                ).look { try prepared($0.archived) }
            }
            guard options.isDryRun else {
                return try prepared(
                    await context.open(backup, in: folder, holdingTo: options.limits)
                )
            }
            return try await context.look(at: backup, in: folder, holdingTo: options.limits) {
                // An archive at hand is verified as a whole.
                if !$0.isAtHand { try $0.forEach { _ in } }
                return try prepared($0)
            }
        } catch {
            throw RestoreError.reading(error)
        }
    }

    /// Throws if a signer was named and did not sign an archive.
    private func refuseOtherSigner(of archived: ArchivedBackup) throws {
        guard let signer = options.signer, archived.signature.key?.fingerprint != signer else {
            return
        }
        throw ArchivedBackupError.distrusted(archived.name, reason: "\(signer) did not sign it")
    }

    /// Finds the part of the backup that the user named.
    ///
    /// The backup must then be read on a thread that may wait.
    func choosePart(of plan: RestorePlan, in live: FilePath) async throws -> PartPlan {
        do {
            return try await OpenedBackup(plan.archived, context: context).look { opened in
                try PartPlan(
                    of: options.only,
                    in: opened,
                    replacing: StoresDirectory(live),
                    naming: options.externalFiles,
                    removingMissing: options.isUndo,
                    context
                )
            }
        } catch {
            throw RestoreError.reading(error)
        }
    }
}
