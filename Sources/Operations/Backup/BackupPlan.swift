internal import Archives
internal import Backups
internal import Files
internal import Foundation
internal import History
internal import Stores
internal import SystemPackage

/// The plan for writing an archive.
struct BackupPlan {
    var options: BackupOptions
    /// The archive's folder, which may be mounted in the stores directory.
    var folder: BackupFolder
    /// The origin to record in the manifest.
    var origin: Origin
    /// The digest of the recipients to record in the manifest; `nil` for no encryption.
    var recipients: String?
    /// A directory for data that does not fit into memory.
    var scratch: FilePath
    /// The time that orders the newest earlier backup, unless it is in the past.
    var follows: Date?
    /// The guard that marks the manifest if much data is gone.
    var anomalyGuard: AnomalyGuard
    /// The stores in the previous backup.
    var knownStores: Set<RelativePath>
    /// The files of external data that were missing in the previous cut.
    var knownMissing: Set<RelativePath>
    /// Whether this is the first cut.
    var isFirstTry: Bool
    /// Whether to report changes instead of requesting a new cut.
    var isLastTry: Bool
    /// The backup's place in its lineage, and the recorded state of the last backups; `nil` if it is in none.
    var lineage: (plan: LineagePlan, state: BackupState)?

    /// Adds to a header everything that is known before the cut.
    func mark(_ header: inout ManifestHeader) throws {
        header.follows = follows.map { Timestamp.rfc3339($0, in: folder.timeZone) }
        header.origin = origin.id
        header.originName = origin.name
        if !options.replaced.isEmpty { header.replaced = options.replaced }
        header.recipients = recipients
        header.vouchers = try folder.keys.signers?.vouchers()
        lineage?.plan.mark(&header)
    }

    /// Returns whether the search for stores can skip a file.
    ///
    /// A short file whose name is no store's, and whose size no intact store can have, is soon read anyway. If it is a
    /// store all the same, the next try finds it.
    ///
    /// - Throws: `HistoryError`.
    func passesOver(_ file: WalkedFile) throws -> Bool {
        if isFirstTry, file.info.size <= Int64(Segment.size),
            !DatabaseHeader.isOfPages(size: file.info.size), !knownStores.contains(file.path),
            !StoresDirectory.hasDatabaseName(file)
        {
            return true
        }
        return try isKnownNoStore(file)
    }

    /// Returns whether a file's disk state is the same as when an earlier backup found that it is no store.
    private func isKnownNoStore(_ file: WalkedFile) throws -> Bool {
        guard let lineage, lineage.plan.isIncrement, options.increments?.rereads != true,
            let identity = file.info.standing(at: options.date)
        else { return false }
        return try lineage.state.entry(file.path.bytes)?.entry.identity == identity
    }
}
