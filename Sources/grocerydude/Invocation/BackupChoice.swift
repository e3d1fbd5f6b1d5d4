internal import Backups
internal import Files
internal import Operations

extension Invocation {
    /// Returns the backup that the user named or chooses from a list on the terminal.
    ///
    /// - Returns: `nil` if none was chosen, which was reported.
    /// - Throws: `BackupFolderError`, `RemoteError`; `CommandError.noBackupNamed` if there is no terminal.
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
    /// - Throws: `BackupFolderError.nothingToUndo` and similar errors, `RemoteError`.
    func backupToUndo(in folder: BackupFolder) async throws -> Backup {
        try await known(
            folder.newestSafety(now: now, fetching: tellFetching)
        )
    }

    /// Returns the newest backup of the stores directory that was made until a moment, or of any origin if there is
    /// none.
    ///
    /// - Throws: `BackupFolderError.noneUntil`, `.noBackups`, `RemoteError`.
    func backup(at moment: Moment, in folder: BackupFolder) async throws -> Backup {
        try await chosen(
            tellingOfLoss(in: folder) {
                try await folder.newest(
                    until: moment.end(now: now, in: timeZone),
                    saying: moment.text,
                    fetching: tellFetching
                )
            }
        )
    }

    /// Returns the backup that the user named; `latest` is the newest of the stores directory.
    ///
    /// - Throws: `BackupFolderError`, `RemoteError`.
    func find(_ name: String, in folder: BackupFolder) async throws -> Backup {
        guard name == "latest" else {
            let found = try await tellingOfLoss(in: folder) {
                try await folder.findWithWaiting(name, now: now)
            }
            return known((found.backup, found.unreachable))
        }
        return try await chosen(latest(in: folder))
    }

    /// Returns the names by which an operation finds the backups that the user named.
    ///
    /// `latest` is replaced by the name of the newest backup of the stores directory.
    ///
    /// If only waiting backups are known, the operation itself reports it.
    /// - Throws: `BackupFolderError`, `RemoteError`.
    func naming(_ names: [String], in folder: BackupFolder) async throws -> [String] {
        guard let place = names.firstIndex(of: "latest") else { return names }
        var names = names
        let choice = try await latest(in: folder).0
        tell(choice)
        names[place] = choice.backup.name
        return names.filter { $0 != "latest" }
    }

    /// Returns the name by which an operation finds the backup that the user named; see `naming` for several.
    func naming(_ name: String, in folder: BackupFolder) async throws -> String {
        try await naming([name], in: folder)[0]
    }

    private func latest(
        in folder: BackupFolder
    ) async throws -> (BackupFolder.Choice, unreachable: (any Error)?) {
        try await tellingOfLoss(in: folder) {
            try await folder.latest(now: now, fetching: tellFetching)
        }
    }

    /// Looks for a backup.
    ///
    /// If there is none but there were some, reports that.
    private func tellingOfLoss<Value>(
        in folder: BackupFolder,
        _ find: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await find()
        } catch BackupFolderError.noBackups(let address) {
            if let loss = await folder.lossWarning(beside: []) { context.report(.warning(loss)) }
            throw BackupFolderError.noBackups(address)
        }
    }

    private func chosen(
        _ found: (BackupFolder.Choice, unreachable: (any Error)?)
    ) -> Backup {
        let choice = known(found)
        tell(choice)
        return choice.backup
    }

    /// Reports the newer backups that were skipped.
    private func tell(_ choice: BackupFolder.Choice) {
        if let warning = choice.warning { context.report(.warning(warning)) }
        let (unknown, others) = (
            choice.passedOver.filter { $0.distrust != nil },
            choice.passedOver.filter { $0.distrust == nil }
        )
        func say(_ backups: [Backup], _ why: String) -> String? {
            guard let newest = backups.first else { return nil }
            let rest = backups.count - 1
            let more = rest == 0 ? "" : " and \(counted(rest, "other", "others"))"
            return
                "took '\(choice.backup.displayName)': '\(newest.displayName)'\(more) \(rest == 0 ? "is" : "are") newer, but \(why); name it to take it"
        }
        say(others, "of another machine or another stores directory").map {
            context.report(.note($0))
        }
        let reasons = Set(unknown.compactMap(\.distrust?.description))
        let reason = reasons.count == 1 ? reasons.first : nil
        say(unknown, reason ?? Backup.Distrust.unsigned).map { context.report(.warning($0)) }
    }

    private func tellFetching(_ size: Int64) {
        context.report(.began(.fetching, total: size))
    }

    /// Reports if only the backups that wait on this machine are known.
    private func known<Value>(_ found: (Value, unreachable: (any Error)?)) -> Value {
        if let error = found.unreachable { context.warnOfUnknown(error) }
        return found.0
    }
}

extension Invocation {
    /// The name of the stores directory in place of a backup's name.
    static let live = "live"

    /// Returns the place that the user named: a backup, or the stores directory.
    ///
    /// - Throws: see `OpenedBackup`.
    func storePlace(_ name: String) async throws -> any StorePlace {
        if name == Self.live { return LiveStores(absolute(stores), context: context) }
        return try await opened(name)
    }

    /// Opens a backup to read from it.
    ///
    /// - Throws: see `find`, `OpenedBackup`.
    func opened(_ name: String) async throws -> OpenedBackup {
        MemoryArenas.limit()
        let folder = try folder()
        return try await OpenedBackup(find(name, in: folder), in: folder, context: context)
    }
}
