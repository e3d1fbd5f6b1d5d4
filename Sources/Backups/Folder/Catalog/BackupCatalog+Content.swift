internal import Files
internal import Remotes

// What the cache file holds.
extension BackupCatalog {
    /// The facts of one backup, wherever its archive is.
    struct Facts: Codable {
        /// Milliseconds since 1970-01-01 UTC; `nil` for an archive without a manifest.
        var time: Int64?
        /// Seconds east of UTC at the place it was made.
        var offset: Int?
        /// `nil` if it was no anomaly.
        var isAnomalous: Bool?
        /// The reason of a safety backup.
        var reason: String?
        /// `nil` if it was made in whole, or that is not known.
        var isPartial: Bool?
        /// The trailer's digest of all content.
        var content: String?
        var root: ManifestHeader.Root?
        /// See `Excluded.key`.
        var exclusions: String?
        /// `nil` if the manifest does not tell, or an older version of this program has read it.
        var origin: String?
        var lineage: String?
        var number: Int?
        var needs: [Need]?

        /// Whether a manifest can hold these numbers.
        var isPossible: Bool {
            time.map(Timestamp.range.contains) ?? true
                && offset.map(Timestamp.offsets.contains) ?? true
        }
    }

    /// A file that was looked at, and the backup that it held then.
    struct Sighting: Codable {
        var id: BackupID
        var size: Int64
        /// The inode of a file on this machine, and its modification in nanoseconds since 1970-01-01 UTC.
        var state: String?
        /// The hash that the file had when it was uploaded.
        var hash: RemoteHash?
        /// `nil` unless this program took the file away; a list that lags may show it still.
        var isTaken: Bool?

        init?(_ file: RemoteFile, _ id: BackupID?) {
            guard let id else { return nil }
            self.id = id
            size = file.size
            hash = file.hash
            guard let location = file.location else { return }
            guard let info = try? FileInfo(of: location) else { return nil }
            state = "\(info.identity.inode) \(info.modified)"
        }
    }

    /// The rows that the backup after one is compared with.
    struct Expectation: Codable {
        /// `nil` if the newest backup of the folder is one whose identity is not known.
        var id: BackupID?
        var stores: [StoreRows]
    }

    /// The content of the cache file.
    struct Content: Codable {
        /// By the address of a folder, and by the name of a file in it.
        var files: [String: [String: Sighting]] = [:]
        var backups: [BackupID: Facts] = [:]
        /// By the address of a folder.
        var expected: [String: Expectation] = [:]
        /// When each folder was last listed, and what had gone from it by then without our doing: by
        /// address, and by name, in milliseconds since 1970-01-01 UTC.
        var listed: [String: Int64]?
        var vanished: [String: [String: Int64]]?
        /// The annotations of backups, which may be moved to another folder without them.
        var annotations: [BackupID: Annotation]?
        /// By the address of a folder: what this machine did there, and a list may not show yet.
        var deeds: [String: Deeds]?
    }
}
