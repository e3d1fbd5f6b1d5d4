internal import Backups
internal import Files
internal import History
internal import Remotes

// A backup that is built on others, or that others may be built on.
extension CreateBackup {
    /// Opens what the last backups held.
    ///
    /// - Returns: `nil` if nobody asked for increments, or if nothing can be known or kept: then the backup
    ///   stands alone.
    func openLineage() throws -> Lineage? {
        guard let increments = options.increments, refusal == nil else { return nil }
        do {
            return try Lineage(increments)
        } catch let error where error is HistoryError || error is FileError {
            context.warn(Self.standsAlone(since: error))
            return nil
        }
    }

    /// Chooses the place of the next backup; see `Lineage.begin`.
    ///
    /// - Returns: `nil` if it stands alone.
    /// - Throws: `HistoryError`.
    func begin(
        _ lineage: inout Lineage?,
        among backups: [Backup],
        isFull: Bool
    ) throws -> LineagePlan? {
        do {
            return try lineage?.begin(
                among: bases(among: backups),
                at: options.date,
                isFull: isFull
            )
        } catch let error where Self.isOfState(error) {
            leave(&lineage, since: error)
            return nil
        }
    }

    /// Goes on without a lineage, as nothing can be kept in it: the backup stands alone.
    func leave(_ lineage: inout Lineage?, since error: any Error) {
        context.warn(Self.standsAlone(since: error))
        lineage?.state.close()
        lineage = nil
    }

    private static func standsAlone(since error: any Error) -> String {
        "a whole backup is made, and none is built on it: \(explain(error))"
    }

    /// Whether an error says that what is kept for the next backup cannot be read or written.
    static func isOfState(_ error: any Error) -> Bool {
        if case HistoryError.unreadable = error { true } else { false }
    }

    /// Returns the reason for which an increment was given up that a whole backup may be made for.
    static func reasonForFull(_ error: any Error) -> String? {
        switch error {
        case let needed as FullNeeded: needed.reason
        case HistoryError.damaged: explain(error)
        default: nil
        }
    }

    /// Throws `FullNeeded` if a backup that this one is built on has gone meanwhile.
    func refuseWithoutNeeds(of place: LineagePlan?) async throws {
        guard let place, place.isIncrement else { return }
        let files = try await folder.remote.list()
        for need in place.needs
        where !files.contains(where: { $0.name == need.name && $0.size == need.size }) {
            throw FullNeeded(reason: "'\(BackupName.display(need.name))' has gone meanwhile")
        }
    }

    /// Reads the whole backup that a first increment is built on, unless somebody has: all that come after need it.
    ///
    /// An archive that is not on this machine was compared by its hash as it was uploaded, if the remote has hashes.
    /// - Throws: `FullNeeded` if it is damaged; `CancellationError`.
    func verifyBase(of place: LineagePlan?, among backups: [Backup]) async throws {
        guard let place, place.needs.count == 1, let need = place.needs.first,
            !backups.contains(where: { $0.isIncrement && $0.lineage == place.lineage }),
            let whole = backups.first(where: { $0.name == need.name && $0.size == need.size }),
            whole.file.location != nil, whole.checks.deepest.map({ $0.depth < .data }) ?? true
        else { return }
        do {
            try await context.verifyQuietly(context.open(whole, in: folder))
            await context.rememberCheck(of: whole, in: folder, damage: nil, at: options.date)
        } catch let error where error.isOfKeys {
            context.note(
                "'\(whole.displayName)' is not read before others are built on it: \(explain(error))"
            )
        } catch let error where error.tellsDamage {
            let damage = explain(error)
            await context.rememberCheck(of: whole, in: folder, damage: damage, at: options.date)
            throw FullNeeded(reason: "'\(whole.displayName)' is damaged: \(damage)")
        }
    }

    /// Keeps what was learnt of a backup that has its name; if that fails, none is built on it.
    func keep(_ backup: Backup, _ written: WrittenArchive, in lineage: Lineage?) {
        guard let lineage, let place = written.place else { return }
        do {
            try lineage.keep(backup, written, place)
        } catch {
            lineage.drop()
            context.warn("no other backup is built on this one: \(explain(error))")
        }
    }
}
