internal import Archives
internal import Backups
internal import Files
internal import History
internal import Stores
internal import SystemPackage

/// How an archive is written.
struct BackupPlan {
    var options: BackupOptions
    /// The archive's folder, which may be mounted in the stores directory too.
    var folder: BackupFolder
    /// A directory for what does not fit into memory.
    var scratch: FilePath
    /// Marks the manifest if much is gone.
    var anomalyGuard: AnomalyGuard
    /// The stores that the backup before had.
    var knownStores: Set<RelativePath>
    /// Files of external data that were missing in the cut before.
    var knownMissing: Set<RelativePath>
    /// Whether no cut was made before this one.
    var isFirstTry: Bool
    /// Whether to report everything that would need a new cut.
    var isLastTry: Bool
    /// The backup's place in its lineage, and what the last ones held; `nil` if it is in none.
    var lineage: (plan: LineagePlan, state: BackupState)?

    /// Returns whether the search for stores need not look into a file.
    ///
    /// A short file whose size no intact store has is read soon anyway: if it is one all the same, the next try finds it.
    ///
    /// - Throws: `HistoryError`.
    func passesOver(_ file: WalkedFile) throws -> Bool {
        if isFirstTry, file.info.size <= Int64(Segment.size),
            !DatabaseHeader.isOfPages(size: file.info.size), !knownStores.contains(file.path)
        {
            return true
        }
        return try isKnownNoStore(file)
    }

    /// Returns whether a file stands as it did when an earlier backup read it, and found that it is no store.
    private func isKnownNoStore(_ file: WalkedFile) throws -> Bool {
        guard let lineage, lineage.plan.isIncrement, options.increments?.rereads != true,
            let identity = file.info.standing(at: options.date)
        else { return false }
        return try lineage.state.entry(file.path.bytes)?.entry.identity == identity
    }
}
