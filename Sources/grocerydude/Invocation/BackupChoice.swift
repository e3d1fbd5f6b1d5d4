internal import Backups
internal import Files
internal import Foundation
internal import History
internal import Operations

/// The choice of backups in a folder by what the user typed.
struct BackupChoice {
    private let folder: BackupFolder
    private let invocation: Invocation
    /// Whether nobody is asked before the newest backup replaces data.
    private let isUnasked: Bool

    init(in folder: BackupFolder, _ invocation: Invocation, isUnasked: Bool = false) {
        (self.folder, self.invocation, self.isUnasked) = (folder, invocation, isUnasked)
    }

    /// Returns the backup that the user named or chooses from a list on the terminal.
    ///
    /// - Returns: `nil` if none was chosen, which was reported.
    /// - Throws: `BackupFolderError`, `RemoteError`; `CommandError.noBackupNamed` if there is no terminal.
    func named(_ name: String?) async throws -> Backup? {
        if let name { return try await found(name) }
        guard invocation.console.canAsk else { throw CommandError.noBackupNamed }
        let backups = BackupSelection()(try await known(folder.listWithWaiting()).backups)
        guard !backups.isEmpty else { throw BackupFolderError.noBackups(folder.address) }
        let rows = BackupRow.rows(backups, among: backups, invocation).enumerated().map {
            number,
            row in
            ["\(number + 1)"] + row.cells
        }
        let choices = Columns(rows: rows, right: [0, 2, 3]).lines
        while let reply = invocation.console.prompt(
            "Restore which? [1-\(backups.count)]",
            choices: choices
        ) {
            let text = reply.trimmingPrefix { $0 == " " }
            if text.isEmpty { break }
            if let number = Int(text), backups.indices.contains(number - 1) {
                return backups[number - 1]
            }
            do {
                return try await found(String(text))
            } catch let error as BackupFolderError {
                invocation.console.message(explain(error))
            }
        }
        try Interruption.check()
        invocation.console.message("nothing was changed")
        return nil
    }

    /// Returns the backup that undoes the last restore of the stores directory.
    ///
    /// - Throws: `BackupFolderError.nothingToUndo` and similar errors, `RemoteError`;
    ///   `CommandError.restoreWithoutSafety` if the last restore made no safety backup, `.undoGone` if it made one that
    ///   is not there.
    func toUndo() async throws -> Backup {
        let restores = loggedRestores()
        guard let last = restores.first else { return known(try await newestSafety()) }
        guard last.remote.exact == folder.address.exact else {
            throw CommandError.undoElsewhere(last.remote)
        }
        let found: (backup: Backup, unreachable: (any Error)?)
        do {
            found = try await newestSafety()
        } catch BackupFolderError.nothingToUndo where last.safety != nil {
            throw CommandError.undoGone(folder.address)
        }
        guard isMade(found.backup, before: last, of: restores) else { return known(found) }
        guard last.safety != nil else {
            let backup = last.backup.map(BackupName.display)
            throw CommandError.restoreWithoutSafety(of: backup, older: found.backup.displayName)
        }
        // The backups that wait on this machine are not the ones in the folder.
        if let error = found.unreachable { throw error }
        // A safety backup has the time at which its restore began, in seconds.
        let deleted = try await deletedSafety {
            abs($0.ownTime?.timeIntervalSince(last.began) ?? .infinity) < 1
        }
        throw deleted.map(CommandError.undoDeleted) ?? CommandError.undoGone(folder.address)
    }

    /// Returns whether a safety backup is of a restore before the last one.
    ///
    /// The log may lack a restore that was killed; its safety backup is known by the time alone.
    private func isMade(
        _ safety: Backup,
        before last: RunLog.Entry,
        of restores: [RunLog.Entry]
    ) -> Bool {
        if let id = safety.id?.rawValue.exact,
            let owner = restores.firstIndex(where: { $0.safety?.exact == id })
        {
            return owner > 0
        }
        return safety.ownTime.map { last.began.timeIntervalSince($0) >= 1 } ?? false
    }

    private func newestSafety() async throws -> (backup: Backup, unreachable: (any Error)?) {
        do {
            return try await ImpliedBackup.newestSafety(
                in: folder,
                now: invocation.now,
                passingOver: invocation.log.futileRestores(),
                fetching: showFetching
            )
        } catch let error as BackupFolderError {
            guard case .nothingToUndo = error,
                let safety = try? await deletedSafety(where: { _ in true })
            else { throw error }
            throw CommandError.undoDeleted(safety)
        }
    }

    /// Returns the name of a safety backup in the trash; `nil` if there is none.
    private func deletedSafety(where isMeant: (Backup) -> Bool) async throws -> String? {
        try await folder.trashed().first {
            let backup = folder.trash.backup($0)
            return backup.isSafety && isMeant(backup)
        }?.displayName
    }

    /// Returns the restores that replaced data of the stores directory, newest first, as far as the log has them.
    private func loggedRestores() -> [RunLog.Entry] {
        var filter = RunLog.Filter()
        filter.command = Run.Command.restore.rawValue
        filter.stores = invocation.job(.restore).stores
        do {
            return try invocation.log.entries(filter).filter {
                $0.backup != nil
                    && [ExitStatus.done, .partial].contains(ExitStatus(rawValue: $0.exitCode))
            }
        } catch {
            invocation.context.warn(explain(error))
            return []
        }
    }

    /// Returns the newest backup of the stores directory that was made until a moment; see `latest`.
    ///
    /// - Throws: `BackupFolderError.noneUntil`, `.noBackups`, `RemoteError`.
    func made(by moment: Moment) async throws -> Backup {
        try await chosen(
            reportingLoss {
                try await ImpliedBackup.newest(
                    in: folder,
                    until: moment.end(now: invocation.now, in: invocation.timeZone),
                    saying: moment.text,
                    fetching: showFetching
                )
            }
        )
    }

    /// Returns the backup that the user named; `latest` is the newest of the stores directory.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - isToChange: whether the backup will be changed, so that `latest` must not be of another stores directory.
    /// - Returns: the backup.
    /// - Throws: `BackupFolderError`, `RemoteError`.
    func find(_ name: String, toChange isToChange: Bool = false) async throws -> Backup {
        guard name == "latest" else { return try await found(name) }
        let choice = try await known(isToChange ? ownLatest() : latest())
        report(choice)
        warn(of: choice)
        return choice.backup
    }

    /// Returns the backup that the user named, to read from it, and its folder; see `find`.
    fileprivate static func toLookAt(
        _ name: String,
        _ invocation: Invocation
    ) async throws -> (Backup, BackupFolder) {
        MemoryArenas.limit()
        let folder = try invocation.folder()
        return (try await Self(in: folder, invocation).find(name), folder)
    }

    /// Returns the backup that the user named, without a warning of its damage.
    private func found(_ name: String) async throws -> Backup {
        guard name == "latest" else {
            let found = try await reportingLoss {
                try await folder.findWithWaiting(name, now: invocation.now)
            }
            return known((found.backup, found.unreachable))
        }
        let found = try await latest()
        if isUnasked { try refuseUnreadable(found.0, isRestore: true) }
        return chosen(found)
    }

    /// Throws if a newer backup cannot be read, which may be the newest of these stores.
    private func refuseUnreadable(_ choice: ImpliedBackup, isRestore: Bool) throws {
        guard let newer = choice.unreadable.first else { return }
        let reason =
            newer.hasOtherSize ? "is not as it was when it was seen last" : "cannot be read"
        throw CommandError.doubtful(
            newer.displayName,
            reason: newer.refusal.map { "\(reason): \($0)" } ?? reason,
            isDamaged: newer.trouble == .damaged,
            isRestore: isRestore
        )
    }

    /// Returns the names by which an operation finds the backups that the user named.
    ///
    /// `latest` is replaced by the name of the newest backup of the stores directory.
    ///
    /// If only waiting backups are known, the operation itself reports it.
    /// - Parameters:
    ///   - names: the names.
    ///   - unreadable: whether newer backups that cannot be read are named as well: one may be of these stores.
    ///   - isToChange: see `find`.
    /// - Returns: the names.
    /// - Throws: `BackupFolderError`, `RemoteError`.
    func naming(
        _ names: [String],
        andUnreadable unreadable: Bool = false,
        toChange isToChange: Bool = false
    ) async throws -> [String] {
        guard let place = names.firstIndex(of: "latest") else { return names }
        var names = names
        let choice = try await (isToChange ? ownLatest() : latest()).0
        report(choice)
        warn(of: choice)
        names[place] = choice.backup.displayName
        if unreadable { names += choice.unreadable.map(\.displayName) }
        return names.filter { $0 != "latest" }
    }

    /// Returns the name by which an operation finds the backup that the user named; see `naming` for several.
    func naming(_ name: String, toChange isToChange: Bool = false) async throws -> String {
        try await naming([name], toChange: isToChange)[0]
    }

    /// Returns the newest backup of the stores directory, and of no other.
    ///
    /// - Throws: `CommandError.doubtful` if a newer one cannot be read, and may be of these stores.
    private func ownLatest() async throws -> (ImpliedBackup, unreachable: (any Error)?) {
        let found = try await latest()
        try refuseUnreadable(found.0, isRestore: false)
        if found.0.isOfAnother {
            let name = found.0.backup.originName ?? found.0.backup.displayName
            throw BackupFolderError.ofOthers(folder.address, [name])
        }
        return found
    }

    private func latest() async throws -> (ImpliedBackup, unreachable: (any Error)?) {
        try await reportingLoss {
            try await ImpliedBackup.latest(in: folder, now: invocation.now, fetching: showFetching)
        }
    }

    /// Looks for a backup.
    ///
    /// If there is none but there were some, reports that.
    private func reportingLoss<Value>(_ find: () async throws -> Value) async throws -> Value {
        do {
            return try await find()
        } catch BackupFolderError.noBackups(let address) {
            if let loss = await folder.losses.warning(beside: []) {
                invocation.context.warn(loss)
            }
            throw BackupFolderError.noBackups(address)
        }
    }

    private func chosen(
        _ found: (ImpliedBackup, unreachable: (any Error)?)
    ) -> Backup {
        let choice = known(found)
        report(choice)
        return choice.backup
    }

    /// Reports the newer backups that were skipped.
    private func report(_ choice: ImpliedBackup) {
        if let warning = choice.warning { invocation.context.warn(warning) }
        let (unknown, others) = (
            choice.skipped.filter { $0.distrust != nil },
            choice.skipped.filter { $0.distrust == nil }
        )
        func say(_ backups: [Backup], _ why: String) -> String? {
            guard let newest = backups.first else { return nil }
            let rest = backups.count - 1
            let more = rest == 0 ? "" : " and \(counted(rest, "other", "others"))"
            return
                "took '\(choice.backup.displayName)': '\(newest.displayName)'\(more) \(rest == 0 ? "is" : "are") newer, but \(why); name it to take it"
        }
        say(others, "of another machine or another stores directory").map {
            invocation.context.note($0)
        }
        let reasons = Set(unknown.compactMap(\.distrust?.description))
        let reason = reasons.count == 1 ? reasons.first : nil
        say(unknown, reason ?? Backup.Distrust.unsigned).map {
            invocation.context.warn($0)
        }
    }

    /// Warns if the newest backup is another's, or is known to be damaged; a restore does so itself.
    private func warn(of choice: ImpliedBackup) {
        if choice.isOfAnother, let name = choice.backup.originName {
            let shown = choice.backup.displayName
            invocation.context.warn(
                "took '\(shown)' of another stores directory, '\(name)': this one has none"
            )
        }
        guard let damage = choice.backup.damage, let trouble = choice.backup.trouble else { return }
        let whole = choice.whole.map { "; the newest whole one is '\($0.displayName)'" } ?? ""
        let name = choice.backup.displayName
        invocation.context.warn("'\(name)', the newest, \(trouble.rawValue) (\(damage))\(whole)")
    }

    private func showFetching(_ size: Int64) {
        invocation.context.report(.began(.fetching, total: size))
    }

    /// Reports if only the backups that wait on this machine are known.
    private func known<Value>(_ found: (Value, unreachable: (any Error)?)) -> Value {
        if let error = found.unreachable { invocation.context.warnOfUnknown(error) }
        return found.0
    }
}

extension Invocation {
    /// Reads from the place that the user named: a backup, or the stores directory.
    ///
    /// - Throws: see `read`; errors of `body`.
    func look<Result>(
        into name: String,
        _ body: @escaping (any StorePlace) throws -> Result
    ) async throws -> Result {
        guard name == LiveStores.name else { return try await read(name) { try body($0) } }
        return try await LiveStores(absolute(stores), context: context).look { try body($0) }
    }

    /// Opens a backup, and reads from it; damage is recorded.
    ///
    /// - Throws: see `find`, `OpenedBackup`; errors of `body`.
    func read<Result>(
        _ name: String,
        _ body: @escaping (OpenedBackup) throws -> Result
    ) async throws -> Result {
        let (backup, folder) = try await BackupChoice.toLookAt(name, self)
        return try await context.notingDamage(of: backup, in: folder, at: now) {
            try await OpenedBackup(backup, in: folder, context: context).look(body)
        }
    }
}

extension LiveStores {
    /// The name of the stores directory in place of a backup's name.
    static let name = "live"
}
