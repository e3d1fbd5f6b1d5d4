internal import Files
internal import SystemPackage

extension Store {
    /// The condition of a store's files, which determines how it can be read.
    private enum Condition {
        /// The store uses a rollback journal's locking, or has no content yet.
        case rollback
        /// There is a log with its shared index: an application has the store open, or was killed.
        case log
        /// The header says WAL mode, but there is no log: nobody has the store open.
        case atRest
        /// There is a log without its index, which SQLite would have to create in the stores directory.
        case logWithoutIndex
        /// The file is not a database, or not any more.
        case foreign
    }

    /// Begins to read the store's current state.
    ///
    /// - Parameters:
    ///   - scratchParent: the directory for a copy, if the store must be recovered before it can be read.
    ///   - busyTimeout: the longest wait for a writer that excludes readers.
    /// - Returns: a transaction that has begun.
    /// - Throws: `StoreError`; `FileError` if a file cannot be opened.
    func beginReading(scratchParent: FilePath, busyTimeout: Duration) throws -> ReadTransaction {
        // At each attempt, an application may have opened or closed the store since the last check.
        for attempt in 0..<8 {
            try refuseStrangeSidecars()
            let transaction: ReadTransaction?
            switch try condition() {
            case .rollback:
                transaction = try beginUnderLocks(.rollback, busyTimeout, scratchParent)
            case .log where attempt > 0:
                // SQLite may be unable to read the log. In that case no process reads it, and a copy can be
                // recovered.
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

    /// Refuses a link, a pipe or a directory with the name of a journal or a log.
    ///
    /// SQLite would follow the link, wait for the pipe, or fail with the directory.
    func refuseStrangeSidecars() throws {
        // SQLite opens an index only if there is a log.
        for suffix in ["-journal", "-wal"] + (try has("-wal") ? ["-shm"] : []) {
            guard let info = try FileInfo.ifPresent(sidecar(suffix)), info.kind != .file
            else { continue }
            throw StoreError.unreadable(
                path.description,
                reason: "'\(path.sibling(path.name.appending(suffix)))' is no regular file"
            )
        }
    }

    /// Opens and closes the database file; no connection to it may be open in this process.
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
            guard try transaction.begin() else { return nil }
            // A copy must save the part of the log that SQLite ignores because of damage.
            guard case .log = hold, try connection.damageOfUnusedLog() != nil else {
                return transaction
            }
        } catch let error as StoreError {
            // On a read-only connection SQLite does not play back a journal (SQLITE_READONLY_ROLLBACK). Nor does it
            // index a log in a directory that it may not write (SQLITE_READONLY_CANTINIT, SQLITE_READONLY_RECOVERY).
            guard case .unreadable = error, try hasJournalOrLog() else { throw error }
            // The connection is closed here, so opening the files drops no lock of this process.
        }
        return try beginOnRecoveredCopy(scratchParent)
    }

    /// Returns whether there is a journal or log that SQLite may have to play back.
    func hasJournalOrLog() throws -> Bool { try has("-journal") || has("-wal") }

    /// Returns whether the file with a suffix exists beside the database.
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

    /// Copies the database with its journal or log, makes SQLite recover the copy, and begins to read the copy.
    ///
    /// - Returns: `nil` if an application opened the store during the copy.
    func beginOnRecoveredCopy(_ scratchParent: FilePath) throws -> ReadTransaction? {
        do {
            return try recoverCopy(scratchParent)
        } catch StoreError.unreadable {
            // SQLite fails even if a signal only interrupted a sync or a removal (EINTR), so this tries again.
            return try recoverCopy(scratchParent)
        }
    }

    private func recoverCopy(_ scratchParent: FilePath) throws -> ReadTransaction? {
        let scratch = try ScratchDirectory(in: scratchParent)
        let copy = scratch.path.appending("copy.sqlite")
        guard let states = try copyUnderLock(to: scratch.path) else { return nil }
        let log = FilePath("\(copy)-wal")
        let recovery = try Connection(copy, name: path.description, access: .own)
        var damagedLog: DamagedLog?
        if let damage = try recovery.damageOfLog() {
            let kept = scratch.path.appending("log")
            damagedLog = DamagedLog(
                reason: damage,
                file: try File.open(log).copy(to: kept, syncing: false)
            )
        }
        try recovery.playBack()
        try recovery.close()
        let connection = try Connection(copy, name: path.description, access: .immutable)
        let transaction = ReadTransaction(self, connection, .copy(scratch, of: states))
        transaction.damagedLog = damagedLog
        return try transaction.begin() ? transaction : nil
    }

    /// Copies the files under a lock that keeps others from playing back the journal, or from closing the log.
    ///
    /// - Returns: the states of the copied files; `nil` if an application has the log open, which it may change at
    ///   any time.
    private func copyUnderLock(to directory: FilePath) throws -> [FileInfo?]? {
        let database = try openLocked()
        let before = try fileStates()
        guard try !isLogInUse() else { return nil }
        let main = try database.copy(to: directory.appending("copy.sqlite"), syncing: false)
        for suffix in ["-wal", "-journal"] where try has(suffix) {
            let file = try File.open(sidecar(suffix))
            let copy = try file.copy(
                to: directory.appending("copy.sqlite\(suffix)"),
                syncing: false
            )
            guard try file.begins(with: copy) else { return nil }
            if suffix == "-journal" {
                try SuperJournal.detach(from: copy, of: self)
                if let damage = try RollbackJournal.damage(in: copy) {
                    throw StoreError.damaged(path.description, reason: damage)
                }
            }
        }
        // Some writers' locks are not visible here, and file times are coarse.
        guard try database.begins(with: main) else { return nil }
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

/// The bytes of a database file that SQLite locks (https://www.sqlite.org/lockingv3.html, os.h).
enum LockBytes {
    /// The range of PENDING, RESERVED and SHARED.
    static let first: Int64 = 0x4000_0000
    static let length: Int64 = 512
    static let shared: Int64 = 0x4000_0002
    static let sharedLength: Int64 = 510
    /// The locks of a shared index (https://www.sqlite.org/walformat.html, 2.2.1), and the lock that every
    /// connection holds (unix VFS).
    static let index: Int64 = 120
    static let indexLength: Int64 = 9
    /// The checkpoint lock and one of the reader locks; a log is not restarted without them.
    static let checkpoint: Int64 = 121
    static let reader: Int64 = 124
}

extension Store {
    /// The URI of the database for a connection that may write, but creates no missing file
    /// (https://www.sqlite.org/uri.html).
    package var writableURI: String { Self.uri(of: location, "mode=rw") }

    /// Returns a database file's URI.
    ///
    /// SQLite percent-decodes it to bytes, so a path that is not UTF-8 can be passed as text.
    static func uri(of path: FilePath, _ parameters: String) -> String {
        let allowed = Set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8
        )
        let encoded = path.withPlatformString { start in
            UnsafeRawBufferPointer(start: start, count: path.length).map { byte in
                allowed.contains(byte)
                    ? String(Unicode.Scalar(byte))
                    : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
        }
        return "file:\(encoded)?\(parameters)"
    }
}
