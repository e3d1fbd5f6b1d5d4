public import Backups
internal import Files
internal import History
internal import Remotes

extension Status {
    /// What stayed in the remote folder that was used before this one.
    public struct Behind: Sendable, Equatable {
        /// That folder's address.
        public var remote: String
        /// How many of its backups are not here.
        public var backups: Int
        /// How many wait on this machine until that folder can be reached.
        public var waiting: Int
    }
}

extension ShowStatus {
    /// Looks for backups that stayed behind when the remote folder was changed.
    ///
    /// - Parameters:
    ///   - status: the state, in which all that is here was noted.
    ///   - profile: the profile that the runs had; all of its runs count, else only the last one of
    ///     these stores, since a folder that is named by hand may be another each time.
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
        // What cannot be read was told before; a folder that is gone has nothing to copy.
        guard let entries = try? log.entries(filter, limit: limit),
            let address = entries.first(where: { $0.remote != folder.address })?.remote,
            let old = try? other(address)
        else { return }
        let here = (try? await folder.list().backups) ?? []
        let there = (try? await old.list().backups) ?? []
        let ids = Set(here.compactMap(\.id))
        let files = Set(here.map { "\($0.size) \($0.name)" })
        let count = there.count { backup in
            if let id = backup.id, ids.contains(id) { return false }
            return backup.id != nil || !files.contains("\(backup.size) \(backup.name)")
        }
        let waiting = (try? await old.outbox?.waiting().count) ?? 0
        guard count + waiting > 0 else { return }
        status.behind = Status.Behind(remote: address, backups: count, waiting: waiting)
    }
}
