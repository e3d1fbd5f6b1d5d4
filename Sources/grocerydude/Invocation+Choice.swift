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
                return try await find(String(text), in: folder)
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

    /// Returns the backup that a person named; `latest` is the newest of the stores directory.
    ///
    /// - Throws: `BackupFolderError`, `RemoteError`.
    func find(_ name: String, in folder: BackupFolder) async throws -> Backup {
        guard name == "latest" else {
            return try await known(folder.findWithWaiting(name, now: now))
        }
        return try await chosen(latest(in: folder))
    }

    /// Returns the names by which an operation finds what a person named: instead of `latest`, that of the newest
    /// backup of the stores directory.
    ///
    /// The operation itself tells if only what waits is known.
    /// - Throws: `BackupFolderError`, `RemoteError`.
    func naming(_ names: [String], in folder: BackupFolder) async throws -> [String] {
        guard let place = names.firstIndex(of: "latest") else { return names }
        var names = names
        let choice = try await latest(in: folder).0
        tell(choice)
        names[place] = choice.backup.name
        return names.filter { $0 != "latest" }
    }

    /// Returns the name by which an operation finds what a person named; see `naming` of several.
    func naming(_ name: String, in folder: BackupFolder) async throws -> String {
        try await naming([name], in: folder)[0]
    }

    private func latest(
        in folder: BackupFolder
    ) async throws -> (BackupFolder.Choice, unreachable: (any Error)?) {
        try await folder.latest(of: StoresOrigin.of(stores), now: now, fetching: tellFetching)
    }

    private func chosen(
        _ found: (BackupFolder.Choice, unreachable: (any Error)?)
    ) -> Backup {
        let choice = known(found)
        tell(choice)
        return choice.backup
    }

    /// Tells of the newer backups that are of other stores directories.
    private func tell(_ choice: BackupFolder.Choice) {
        guard let newest = choice.passedOver.first else { return }
        let rest = choice.passedOver.count - 1
        let others = rest == 0 ? "" : " and \(counted(rest, "other", "others"))"
        let are = rest == 0 ? "is newer, but" : "are newer, but"
        context.report(
            .note(
                "took '\(choice.backup.displayName)': '\(newest.displayName)'\(others) \(are) of another machine or another stores directory; name it to take it"
            )
        )
    }

    private func tellFetching(_ size: Int64) {
        context.report(.began(.fetching, total: size))
    }

    /// Tells if only what waits on this machine is known.
    private func known<Value>(_ found: (Value, unreachable: (any Error)?)) -> Value {
        if let error = found.unreachable { context.warnOfUnknown(error) }
        return found.0
    }
}
