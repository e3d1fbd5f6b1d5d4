internal import Files
internal import SystemPackage

extension Store {
    /// How a store's files stand, which decides how it may be read.
    private enum Condition {
        /// With a rollback journal's locking, or none yet.
        case rollback
        /// A log and its shared index are there: an application has it open, or was killed.
        case log
        /// It says WAL mode and has no log: nobody has it open.
        case atRest
        /// A log without its index, which SQLite would have to make in the stores directory.
        case logWithoutIndex
        /// It is not a database (any more).
        case foreign
    }

    /// Begins to read the store as it is now.
    ///
    /// - Parameters:
    ///   - scratchParent: where a copy goes if the store must be recovered before it can be read.
    ///   - busyTimeout: how long to wait for a writer that lets nobody read.
    /// - Returns: a transaction that has begun.
    /// - Throws: `StoreError`; `FileError` if a file cannot be opened.
    func beginReading(scratchParent: FilePath, busyTimeout: Duration) throws -> ReadTransaction {
        // Each try may find that an application opened or closed the store since the last look.
        for attempt in 0..<8 {
            try refuseStrangeSidecars()
            let transaction: ReadTransaction?
            switch try condition() {
            case .rollback:
                transaction = try beginUnderLocks(.rollback, busyTimeout, scratchParent)
            case .log where attempt > 0:
                // Perhaps it is no log that SQLite could read: then nobody is reading it.
                transaction =
                    try beginOnRecoveredCopy(scratchParent)
                    ?? beginUnderLocks(.log, busyTimeout, scratchParent)
            case .log:
                transaction = try beginUnderLocks(.log, busyTimeout, scratchParent)
            case .atRest:
                transaction = try beginAtRest()
            case .logWithoutIndex:
                transaction = try beginOnRecoveredCopy(scratchParent)
            case .foreign:
                throw StoreError.damaged(path.description, reason: "it has no whole SQLite header")
            }
            if let transaction { return transaction }
        }
        throw StoreError.neverStill(path.description)
    }

    /// Refuses a link, a pipe or a directory with the name of a journal or a log: SQLite would follow
    /// it, wait for it or fail at it.
    func refuseStrangeSidecars() throws {
        // SQLite asks for an index only if there is a log.
        for suffix in ["-journal", "-wal"] + (try has("-wal") ? ["-shm"] : []) {
            guard let info = try FileInfo.ifPresent(sidecar(suffix)), info.kind != .file
            else { continue }
            throw StoreError.unreadable(
                path.description,
                reason: "'\(path.sibling(path.name.appending(suffix)))' is no regular file"
            )
        }
    }

    /// Opens and closes the database: no connection to it may be open in this process.
    private func condition() throws -> Condition {
        guard let header = try DatabaseHeader(of: File.open(location)) else { return .foreign }
        if try has("-wal") { return try has("-shm") ? .log : .logWithoutIndex }
        return header.saysWAL ? .atRest : .rollback
    }

    private func beginUnderLocks(
        _ hold: ReadTransaction.Hold,
        _ busyTimeout: Duration,
        _ scratchParent: FilePath
    ) throws -> ReadTransaction? {
        do {
            let connection = try Connection(
                location,
                name: path.description,
                access: .shared,
                busyTimeout: busyTimeout
            )
            let transaction = ReadTransaction(self, connection, hold)
            return try transaction.begin() ? transaction : nil
        } catch let error as StoreError {
            // SQLite does not play back a journal on a read-only connection
            // (SQLITE_READONLY_ROLLBACK), nor index a log that it may not write beside
            // (SQLITE_READONLY_CANTINIT, SQLITE_READONLY_RECOVERY).
            guard case .unreadable = error, try hasJournalOrLog() else { throw error }
            // The connection is closed here, so no lock of ours is lost by looking.
        }
        return try beginOnRecoveredCopy(scratchParent)
    }

    /// Returns whether there is something that SQLite may have to play back.
    func hasJournalOrLog() throws -> Bool { try has("-journal") || has("-wal") }

    /// Returns whether a file beside the database is there.
    func has(_ suffix: String) throws -> Bool { try FileInfo.ifPresent(sidecar(suffix)) != nil }

    private func beginAtRest() throws -> ReadTransaction? {
        let database = try openLocked()
        let connection = try Connection(location, name: path.description, access: .immutable)
        let transaction = ReadTransaction(self, connection, .rest(database))
        return try transaction.begin() ? transaction : nil
    }

    /// Opens the database file with a shared lock on it.
    private func openLocked() throws -> File {
        let database = try File.open(location)
        let (first, length) = (LockBytes.shared, LockBytes.sharedLength)
        guard try database.lockRecordShared(from: first, length: length) else {
            throw StoreError.busy(path.description)
        }
        return database
    }

    // MARK: - A copy

    /// Copies the database with its journal or log, lets SQLite recover the copy, and reads that.
    ///
    /// - Returns: `nil` if the store was opened by an application while it was copied.
    func beginOnRecoveredCopy(_ scratchParent: FilePath) throws -> ReadTransaction? {
        do {
            return try recoverCopy(scratchParent)
        } catch StoreError.unreadable {
            // SQLite gives up if a sync or a removal was only interrupted (EINTR).
            return try recoverCopy(scratchParent)
        }
    }

    private func recoverCopy(_ scratchParent: FilePath) throws -> ReadTransaction? {
        let scratch = try ScratchDirectory(in: scratchParent)
        let copy = scratch.path.appending("copy.sqlite")
        guard let states = try copyUnderLock(to: scratch.path) else { return nil }
        let recovery = try Connection(copy, name: path.description, access: .own)
        try recovery.playBack()
        try recovery.close()
        let connection = try Connection(copy, name: path.description, access: .immutable)
        let transaction = ReadTransaction(self, connection, .copy(scratch, of: states))
        return try transaction.begin() ? transaction : nil
    }

    /// Copies while a lock keeps others from playing back the journal, or from closing the log.
    ///
    /// - Returns: the states of the files that were copied; `nil` if an application has the log
    ///   open, which it may change at any time.
    private func copyUnderLock(to directory: FilePath) throws -> [FileInfo?]? {
        let database = try openLocked()
        let before = try fileStates()
        guard try !isLogInUse() else { return nil }
        try database.copy(to: directory.appending("copy.sqlite"), syncing: false)
        for suffix in ["-wal", "-journal"] where try has(suffix) {
            let copy = try File.open(sidecar(suffix)).copy(
                to: directory.appending("copy.sqlite\(suffix)"),
                syncing: false
            )
            if suffix == "-journal" { try SuperJournal.detach(from: copy, of: self) }
        }
        return try !isLogInUse() && fileStates() == before ? before : nil
    }

    /// Returns whether a process keeps the log's index.
    private func isLogInUse() throws -> Bool {
        guard try has("-shm") else { return false }
        let (first, length) = (LockBytes.index, LockBytes.indexLength)
        return try File.open(sidecar("-shm")).recordLockHolder(from: first, length: length) != nil
    }

    func fileStates() throws -> [FileInfo?] {
        try [location, sidecar("-wal"), sidecar("-journal")].map { try FileInfo.ifPresent($0) }
    }
}
