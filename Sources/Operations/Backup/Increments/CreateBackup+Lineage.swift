internal import Age
internal import Backups
internal import Files
internal import History
internal import Remotes

// Backups in a lineage: built on others, or possible bases of others.
extension CreateBackup {
    /// Opens the recorded state of the last backups.
    ///
    /// - Returns: the lineage; `nil` if increments are off, or if the state cannot be read or written: the backup is
    ///   then independent.
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
    /// - Returns: the place; `nil` for an independent backup.
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
        } catch let error where error.isOfState {
            leave(&lineage, since: error)
            return nil
        }
    }

    /// Continues without a lineage, because its state cannot be written: the backup is independent.
    func leave(_ lineage: inout Lineage?, since error: any Error) {
        context.warn(Self.standsAlone(since: error))
        lineage?.state.close()
        lineage = nil
    }

    private static func standsAlone(since error: any Error) -> String {
        "a whole backup is made, and none is built on it: \(explain(error))"
    }

    /// Throws `FullNeeded` if a base backup of this one has disappeared meanwhile.
    func refuseWithoutNeeds(of place: LineagePlan?) async throws {
        guard let place, place.isIncrement else { return }
        let files = try await folder.remote.list()
        for need in place.needs
        where !files.contains(where: { $0.name.exact == need.name.exact && $0.size == need.size }) {
            throw FullNeeded(reason: "'\(BackupName.display(need.name))' has gone meanwhile")
        }
    }

    /// Reads the full backup before the first increment is built on it, unless it was already read: all later
    /// increments need it.
    ///
    /// An archive on another machine was compared by its hash during the upload, if the remote supports hashes.
    /// - Throws: `FullNeeded` if it is damaged, or if the password does not open it; `CancellationError`.
    func verifyBase(of place: LineagePlan?, among backups: [Backup]) async throws {
        try await PasswordCheck(folder: folder).verify(place, among: backups)
        guard let place, place.needs.count == 1, let need = place.needs.first,
            !backups.contains(where: { $0.isIncrement && $0.lineage == place.lineage }),
            let whole = backups.first(where: {
                $0.name.exact == need.name.exact && $0.size == need.size
            }),
            whole.file.location != nil, whole.checks.deepest.map({ $0.depth < .data }) ?? true
        else { return }
        do {
            try await context.verifyQuietly(context.open(whole, in: folder))
            await context.rememberCheck(of: whole, in: folder, damage: nil, at: options.date)
        } catch let error where error.isOfKeys {
            context.note(
                "'\(whole.displayName)' is not read before others are built on it: \(explain(error))"
            )
        } catch let error where error.reportsDamage {
            let damage = explain(error)
            await context.rememberCheck(of: whole, in: folder, damage: damage, at: options.date)
            throw FullNeeded(reason: "'\(whole.displayName)' is damaged: \(damage)")
        }
    }

    /// Records the state of a backup that has its name; if that fails, no backup is built on it.
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

extension Error {
    /// Whether an error means that the recorded state cannot be read or written.
    var isOfState: Bool {
        if case HistoryError.unreadable = self as any Error { true } else { false }
    }

    /// The reason to make a full backup instead of an increment; `nil` if the error is none.
    var reasonForFull: String? {
        switch self as any Error {
        case let needed as FullNeeded: needed.reason
        case HistoryError.damaged: explain(self)
        default: nil
        }
    }
}

/// The check that a password opens backups: the files do not say which one they have, and it may have been changed.
struct PasswordCheck {
    let folder: BackupFolder

    /// Throws `FullNeeded` if the password does not open the backups that an increment is built on.
    func verify(_ place: LineagePlan?, among backups: [Backup]) async throws {
        guard let place, place.isIncrement else { return }
        let names = Set([place.needs.first, place.needs.last].compactMap(\.?.name.exact))
        for backup in backups where names.contains(backup.name.exact) {
            guard try await opens(backup) else {
                throw FullNeeded(reason: "the password does not open '\(backup.displayName)'")
            }
        }
    }

    /// Returns whether the password opens a backup, unless keys do; it does if the folder is unreachable.
    func opens(_ backup: Backup) async throws -> Bool {
        let recipients = try folder.keys.recipients() ?? []
        guard backup.isEncrypted, recipients.contains(where: \.isPassphrase) else { return true }
        do {
            try await folder.home(of: backup).checkKey(of: backup)
            return true
        } catch let error where error.isOfKeys {
            return false
        } catch let error where error.isUnreachable {
            return true
        }
    }
}
