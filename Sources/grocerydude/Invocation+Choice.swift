internal import Backups
internal import Files
internal import Operations

extension Invocation {
    /// Returns the backup that a person named, or chooses from a list on the terminal.
    ///
    /// - Returns: `nil` if none was chosen, which was told.
    /// - Throws: `BackupFolderError`, `RemoteError`; `CommandError.noBackupNamed` if nobody can be asked.
    func backup(named name: String?, in folder: BackupFolder) async throws -> Backup? {
        if let name { return try await find(name, in: folder) }
        guard console.canAsk else { throw CommandError.noBackupNamed }
        let backups = BackupSelection()(try await known(folder.listWithWaiting()).backups)
        guard !backups.isEmpty else { throw BackupFolderError.noBackups(folder.address) }
        let rows = backups.enumerated().map { number, backup in
            ["\(number + 1)"] + BackupRow(backup, self).cells
        }
        let choices = Columns(rows: rows, right: [0, 2]).lines
        while let reply = console.prompt("Restore which? [1-\(backups.count)]", choices: choices) {
            let text = reply.trimmingPrefix { $0 == " " }
            if text.isEmpty { break }
            if let number = Int(text), backups.indices.contains(number - 1) {
                return backups[number - 1]
            }
            do {
                // `latest` is that of the folder's own order.
                return try await find(String(text), in: folder)
            } catch let error as BackupFolderError {
                console.message(explain(error))
            }
        }
        try Interruption.check()
        console.message("nothing was changed")
        return nil
    }

    /// Returns the backup that undoes the last restore.
    ///
    /// - Throws: `BackupFolderError.nothingToUndo`, `RemoteError`.
    func backupToUndo(in folder: BackupFolder) async throws -> Backup {
        try await known(folder.newestSafety(now: now))
    }

    /// Returns the newest backup that was made by then.
    ///
    /// - Throws: `BackupFolderError.noneUntil`, `.noBackups`, `RemoteError`.
    func backup(at moment: Moment, in folder: BackupFolder) async throws -> Backup {
        try await known(folder.newest(until: moment.end(in: timeZone), saying: moment.text))
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
