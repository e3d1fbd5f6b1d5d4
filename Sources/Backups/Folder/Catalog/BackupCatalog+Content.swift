internal import Age
internal import Files
internal import Remotes

// The content of the cache file.
extension BackupCatalog {
    /// The state of a file when it was inspected, and the backup that it held.
    struct Sighting {
        var id: BackupID
        var size: Int64
        /// The inode of a local file, and its modification time in nanoseconds since 1970-01-01 UTC.
        var state: String?
        /// The hash that the file had when it was uploaded.
        var hash: RemoteHash?
        /// Whether this program took the file away, although a late listing may still show it.
        var isTaken = false
        /// The keys of its signature; empty if it has no valid one.
        var keys: String?

        /// The key of the backup's summary.
        ///
        /// It includes the signing keys, so that an unsigned backup with a copied identity does not get the summary of
        /// the signed one.
        var summaryKey: BackupID { keys.map { BackupID(rawValue: "\(id.rawValue) \($0)") } ?? id }

        /// The proof of who made the backup.
        var signature: BackupSignature {
            guard let keys else { return .none }
            return BackupSignature(words: keys) ?? .invalid(reason: "it did not hold")
        }

        init?(_ file: RemoteFile, _ id: BackupID?, _ signature: BackupSignature?) {
            guard let id else { return nil }
            self.id = id
            keys = signature?.words
            size = file.size
            hash = file.hash
            guard let location = file.location else { return }
            guard let info = try? FileInfo(of: location) else { return nil }
            state = "\(info.identity.inode) \(info.modified)"
        }
    }

    /// The data to compare the backup after a given one with.
    struct Expectation: Codable {
        /// The given backup; `nil` if the newest backup of the folder has no known identity.
        var id: BackupID?
        var stores: [StoreRows]
        /// The files beside the stores; `nil` if they are not known.
        var otherFiles: OtherFiles?

        var data: ExpectedData { ExpectedData(stores: stores, otherFiles: otherFiles) }
    }

    /// The newest backup that was ever seen.
    struct Newest: Codable, Equatable {
        /// The time in milliseconds since 1970-01-01 UTC.
        var time: Int64
        var name: String
    }

    /// The content of the cache file.
    struct Content: Codable {
        /// The folders, by address.
        var folders: [ExactString: Folder] = [:]
        var backups: [BackupID: BackupSummary] = [:]
        /// The annotations of backups, which may be moved to another folder without them.
        var annotations: [BackupID: Annotation] = [:]

        /// Forgets the backups that no folder has any more.
        mutating func forgetUnseen() {
            let seen = Set(
                folders.values.flatMap { folder in
                    let sightings =
                        folder.files.values + (folder.gone ?? [:]).values.map(\.sighting)
                    return sightings.map(\.summaryKey)
                }
            )
            backups = backups.filter { seen.contains($0.key) }
        }
    }

    /// A file that is gone, or that a list lacked, as it was last seen.
    struct Gone: Codable {
        var sighting: Sighting
        /// The time of the list without it, in milliseconds since 1970-01-01 UTC.
        var time: Int64
    }

    /// A backup that this program took away.
    struct Taken: Codable {
        var id: BackupID
        /// The time of a listing near that, in milliseconds since 1970-01-01 UTC.
        var time: Int64
    }

    /// The facts about one folder.
    struct Folder: Codable {
        /// The sightings, by the name of a file.
        var files: [ExactString: Sighting] = [:]
        /// The expected data, by origin.
        var expected: [ExactString: Expectation] = [:]
        /// The newest backup with a trusted signature, by origin.
        var newest: [ExactString: Newest] = [:]
        /// The time of the last listing, in milliseconds since 1970-01-01 UTC.
        var listed: Int64?
        /// The backups that this program did not remove, by name, with the time of the last listing that showed them.
        var vanished: [ExactString: Int64] = [:]
        /// The files that are gone, by name; `nil` if there are none.
        var gone: [ExactString: Gone]?
        /// The backups that this program took away in the last day, by name; `nil` if there are none.
        ///
        /// A run that listed them before may remember them after that.
        var taken: [ExactString: Taken]?
        /// The digests of the recipients for whom this program encrypted files again, by name; `nil` if there are none.
        var recipients: [ExactString: String]?
        /// The recent changes of this machine, which a listing may not show yet.
        var deeds = Deeds()
    }
}

extension BackupCatalog.Folder {
    /// The maximum number of files that are gone and whose facts are kept.
    private static let goneLimit = 1000

    /// Returns what is known of a file, even if the last list lacked it.
    func sighting(of name: ExactString) -> BackupCatalog.Sighting? {
        files[name] ?? gone?[name]?.sighting
    }

    /// Notes that a list lacks a file.
    mutating func remove(_ name: ExactString, at now: Int64) {
        recipients?[name] = nil
        guard let sighting = files.removeValue(forKey: name) else { return }
        gone = (gone ?? [:]).merging([name: .init(sighting: sighting, time: now)]) { $1 }
    }

    /// Notes that a file is listed again.
    mutating func bringBack(_ name: ExactString) {
        guard let back = gone?.removeValue(forKey: name) else { return }
        files[name] = files[name] ?? back.sighting
    }

    /// Whether this program took a backup away.
    func isTaken(_ name: ExactString, _ sighting: BackupCatalog.Sighting) -> Bool {
        sighting.isTaken || taken?[name]?.id == sighting.id
    }

    /// Returns the names of vanished backups that are here again, or here under another name.
    ///
    /// - Parameters:
    ///   - names: the names of the existing files.
    ///   - ids: the identities of the backups in them.
    /// - Returns: the names under which they vanished.
    func back(_ names: Set<ExactString>, _ ids: Set<BackupID>) -> [ExactString] {
        vanished.keys.filter { name in
            names.contains(name) || (gone?[name]?.sighting.id).map(ids.contains) ?? false
        }
    }

    /// Remembers that a backup has vanished, unless another run of this program took it away meanwhile.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - sighting: its file as it was last seen.
    ///   - now: the current time.
    mutating func lose(_ name: ExactString, _ sighting: BackupCatalog.Sighting, at now: Int64) {
        guard !isTaken(name, files[name] ?? sighting) else { return }
        // It had another name when it vanished before.
        for (other, gone) in gone ?? [:] where gone.sighting.id == sighting.id {
            vanished[other] = nil
        }
        vanished[name] = listed ?? now
    }

    /// Remembers that this program took a backup away, or brought it back.
    mutating func take(_ name: ExactString, _ id: BackupID?, isTaken: Bool, at now: Int64) {
        let id = id ?? sighting(of: name)?.id
        files[name]?.isTaken = isTaken
        gone?[name]?.sighting.isTaken = isTaken
        vanished[name] = nil
        taken?[name] = nil
        guard isTaken, let id else { return }
        taken = (taken ?? [:]).merging([name: .init(id: id, time: now)]) { $1 }
    }

    /// Forgets files that are gone after 30 days, and after a day which ones this program took away.
    mutating func forgetOld(at now: Int64) {
        let day: Int64 = 86_400_000
        vanished = vanished.filter { now - $0.value < 30 * day }
        let kept = (gone ?? [:]).filter { now - $0.value.time < 30 * day }
            .sorted { $0.value.time > $1.value.time }.prefix(Self.goneLimit)
        gone =
            kept.isEmpty ? nil : Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
        taken = taken?.filter { now - $0.value.time < day }
    }
}

extension BackupCatalog.Sighting: Codable {
    init(from decoder: any Decoder) throws {
        var line = try CatalogLine(from: decoder)
        guard let id = try line.text(), let size: Int64 = try line.number() else {
            throw line.damaged
        }
        self.id = BackupID(rawValue: id)
        self.size = size
        state = try line.text()
        hash = try line.text().flatMap(RemoteHash.init(description:))
        isTaken = try line.flag()
        keys = try line.text()
        try line.end()
    }

    func encode(to encoder: any Encoder) throws {
        var line = CatalogLine()
        line.add(id.rawValue)
        line.add(size)
        line.add(state)
        line.add(hash?.description)
        line.add(isTaken)
        line.add(keys)
        try line.encode(to: encoder)
    }
}
