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
    /// Finds backups that remain in the previous remote folder, or wait for another one, after the remote folder was
    /// changed.
    ///
    /// - Parameters:
    ///   - status: the status so far, with everything in the current folder.
    ///   - profile: the profile of the runs. With a profile, all of its runs count. Without one, only the last run of
    ///     these stores counts, because a folder named by hand may differ each time.
    ///   - used: the addresses of folders that other profiles use, for the same stores too.
    ///   - other: returns the folder of an address.
    public func lookElsewhere(
        _ status: inout Status,
        profile: String?,
        used: Set<String> = [],
        folder other: (String) throws -> BackupFolder
    ) async {
        await lookBehind(&status, profile: profile, folder: other)
        do {
            try await lookIntoOtherOutboxes(&status, except: used)
        } catch {
            let what = "what waits for upload to other folders is not known"
            status.warnings.append("\(what): \(explain(error))")
        }
    }

    /// Finds backups of these stores that wait for a folder that is not used any more, whatever the log has.
    private func lookIntoOtherOutboxes(
        _ status: inout Status,
        except used: Set<String>
    ) async throws {
        let others = try await folder.outbox?.others().filter { !used.contains($0.address) } ?? []
        if others.isEmpty { return }
        let here = Set(status.remoteError == nil ? try await folder.list().backups.map(\.key) : [])
        for (address, all) in others {
            let waiting = all.filter { folder.origin?.has($0) ?? true }
            let isTold = status.behind?.remote == address && status.behind?.waiting ?? 0 > 0
            guard let first = waiting.first, !isTold else { continue }
            let count = counted(waiting.count, "backup waits", "backups wait")
            let old = Advice.option("remote", address)
            let isHere = waiting.allSatisfy { here.contains($0.key) }
            let remedy =
                isHere
                ? "to remove one that is here too: \(Advice.command("delete \(old)", first.name))"
                : "to send there: grocerydude copy --waiting \(old); to have here: grocerydude copy --all \(old) \(Advice.option("to", folder.address))"
            let what = "\(count) for '\(address)', which is not the folder any more"
            status.findings.append(.init(kind: .leftover, what: what, remedy: remedy))
        }
    }

    private func lookBehind(
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
