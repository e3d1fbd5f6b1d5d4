internal import Backups
internal import Files
internal import Operations

extension Invocation {
    /// Returns the backup that a person named, or chooses from a list on the terminal.
    ///
    /// - Returns: `nil` if none was chosen, which was told.
    /// - Throws: `BackupFolderError`, `RemoteError`; `CommandError.noBackupNamed` if nobody can be asked.
    func backup(named name: String?, in folder: BackupFolder) async throws -> Backup? {
        if let name { return try await toRestore(name, in: folder) }
        guard console.canAsk else { throw CommandError.noBackupNamed }
        let backups = BackupSelection()(try await known(folder.listWithWaiting()).backups)
        guard !backups.isEmpty else { throw BackupFolderError.noBackups(folder.address) }
        let rows = BackupRow.rows(backups, self).enumerated().map { number, row in
            ["\(number + 1)"] + row.cells
        }
        let choices = Columns(rows: rows, right: [0, 2]).lines
        while let reply = console.prompt("Restore which? [1-\(backups.count)]", choices: choices) {
            let text = reply.trimmingPrefix { $0 == " " }
            if text.isEmpty { break }
            if let number = Int(text), backups.indices.contains(number - 1) {
                return backups[number - 1]
            }
            do {
                return try await toRestore(String(text), in: folder)
            } catch let error as BackupFolderError {
                console.message(explain(error))
            }
        }
        try Interruption.check()
        console.message("nothing was changed")
        return nil
    }

    /// Returns the backup that undoes the last restore of the stores directory.
    ///
    /// - Throws: `BackupFolderError.nothingToUndo` and its like, `RemoteError`.
    func backupToUndo(in folder: BackupFolder) async throws -> Backup {
        try await known(
            folder.newestSafety(of: StoresOrigin.of(stores), now: now, fetching: tellFetching)
        )
    }

    /// Returns the newest backup of the stores directory that was made by then; of all if none is of it.
    ///
    /// - Throws: `BackupFolderError.noneUntil`, `.noBackups`, `RemoteError`.
    func backup(at moment: Moment, in folder: BackupFolder) async throws -> Backup {
        try await chosen(
            folder.newest(
                until: moment.end(in: timeZone),
                saying: moment.text,
                of: StoresOrigin.of(stores),
                fetching: tellFetching
            )
        )
    }

    /// Returns the backup that a person wants to restore; `latest` is that of the stores directory.
    private func toRestore(_ name: String, in folder: BackupFolder) async throws -> Backup {
        guard name == "latest" else { return try await find(name, in: folder) }
        return try await chosen(
            folder.latest(of: StoresOrigin.of(stores), now: now, fetching: tellFetching)
        )
    }

    private func chosen(
        _ found: (BackupFolder.Choice, unreachable: (any Error)?)
    ) -> Backup {
        let choice = known(found)
        if let newest = choice.passedOver.first {
            let count = choice.passedOver.count
            let verb = count == 1 ? "is" : "are"
            context.report(
                .note(
                    "\(counted(count, "newer backup", "newer backups")), '\(newest.displayName)' first, \(verb) of another machine or another stores directory: name one to restore it"
                )
            )
        }
        return choice.backup
    }

    private func tellFetching(_ size: Int64) {
        context.report(.began(.fetching, total: size))
    }

    /// Returns the backup that a person named.
    ///
    /// - Throws: `BackupFolderError`, `RemoteError`.
    func find(_ name: String, in folder: BackupFolder) async throws -> Backup {
        try await known(folder.findWithWaiting(name, now: now))
    }

    /// Tells if only what waits on this machine is known.
    private func known<Value>(_ found: (Value, unreachable: (any Error)?)) -> Value {
        if let error = found.unreachable { context.warnOfUnknown(error) }
        return found.0
    }
}
