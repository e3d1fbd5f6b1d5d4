public import History

/// All that this machine remembers of backups, outside of their folders.
///
/// Losing the catalog costs time: an archive on this machine is opened again when it is listed. Of an
/// archive elsewhere the time is that of its name until it is fetched, and no policy removes or counts it.
///
/// Losing the log costs knowledge of how deeply each backup was checked, and when. Damage is not
/// forgotten with it: checks write it beside the archives as well, so that a damaged backup never becomes
/// a reason to remove the last good one.
public struct BackupMemory: Sendable {
    public let catalog: BackupCatalog
    /// The log of checks; without one, nothing is known of them but the damage that notes tell of.
    public let log: RunLog?

    public init(catalog: BackupCatalog, log: RunLog? = nil) {
        self.catalog = catalog
        self.log = log
    }
}
