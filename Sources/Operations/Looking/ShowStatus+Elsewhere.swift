public import Backups
internal import Files
internal import History
internal import Remotes

extension Status {
    /// The backups that remain in the previously used remote folder.
    public struct Behind: Sendable, Equatable {
        /// The previous folder's address.
        public var remote: String
        /// The number of its backups that this folder lacks.
        public var backups: Int
        /// The number of backups that wait on this machine for upload to that folder.
        public var waiting: Int
    }
}

extension ShowStatus {
    /// Finds backups that remain in the previous remote folder after the remote folder was changed.
    ///
    /// - Parameters:
    ///   - status: the status so far, with everything in the current folder.
    ///   - profile: the profile of the runs. With a profile, all of its runs count. Without one, only the last run of
    ///     these stores counts, because a folder named by hand may differ each time.
    ///   - other: returns the folder of an address.
    public func lookElsewhere(
        _ status: inout Status,
        profile: String?,
        folder other: (String) throws -> BackupFolder
    ) async {
        guard status.remoteError == nil, let log = folder.memory.log else { return }
        var filter = RunLog.Filter()
        filter.stores = status.logged
        filter.command = Run.Command.backup.rawValue
        filter.profile = profile
        let limit = profile == nil ? 1 : Int.max
        // An unreadable log was already reported; a folder that no longer exists has nothing to copy.
        guard let entries = try? log.entries(filter, limit: limit),
            let address = entries.first(where: { $0.remote != folder.address })?.remote,
            let old = try? other(address)
        else { return }
        let here = (try? await folder.list().backups) ?? []
        let there = (try? await old.list().backups) ?? []
        let ids = Set(here.compactMap(\.id))
        let files = Set(here.map { "\($0.size) \($0.name)".exact })
        let count = there.count { backup in
            if let id = backup.id, ids.contains(id) { return false }
            return backup.id != nil || !files.contains("\(backup.size) \(backup.name)".exact)
        }
        let waiting = (try? await old.outbox?.waiting().count) ?? 0
        guard count + waiting > 0 else { return }
        status.behind = Status.Behind(remote: address, backups: count, waiting: waiting)
    }
}
