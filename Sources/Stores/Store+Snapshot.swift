internal import CSQLite
internal import Files
internal import GRDB
public import SystemPackage

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

    /// Begins a read transaction and takes hold of its snapshot.
    ///
    /// - Parameters:
    ///   - scratchParent: where a copy goes if the store must be recovered before it can be read.
    ///   - busyTimeout: how long to wait for a writer that lets nobody read.
    /// - Returns: the snapshot, which holds its transaction or lock until its last reference goes.
    /// - Throws: `StoreError`; `FileError` where a file cannot be opened.
    public func snapshot(scratchParent: FilePath, busyTimeout: Duration) throws -> StoreSnapshot {
        // Each try may find that an application opened or closed the store since the last look.
        for _ in 0..<8 {
            switch try condition() {
            case .rollback:
                if let snapshot = try snapshotUnderLocks(
                    expectsLog: false,
                    busyTimeout,
                    scratchParent
                ) {
                    return snapshot
                }
            case .log:
                if let snapshot = try snapshotUnderLocks(
                    expectsLog: true,
                    busyTimeout,
                    scratchParent
                ) {
                    return snapshot
                }
            case .atRest:
                if let snapshot = try snapshotAtRest() { return snapshot }
            case .logWithoutIndex:
                if let snapshot = try snapshotOfRecoveredCopy(scratchParent) { return snapshot }
            case .foreign:
                throw StoreError.damaged(path.description, reason: "it has no SQLite header")
            }
        }
        throw StoreError.neverStill(path.description)
    }

    private func condition() throws -> Condition {
        guard let header = try DatabaseHeader.read(File.open(location)) else { return .foreign }
        let hasLog = try FileInfo.ifPresent(sidecar("-wal")) != nil
        if hasLog {
            return try FileInfo.ifPresent(sidecar("-shm")) != nil ? .log : .logWithoutIndex
        }
        return header.saysWAL ? .atRest : .rollback
    }

    // MARK: - With SQLite's locks

    private func snapshotUnderLocks(
        expectsLog: Bool,
        _ busyTimeout: Duration,
        _ scratchParent: FilePath
    ) throws -> StoreSnapshot? {
        do {
            let connection = try Connection(
                location,
                name: path.description,
                access: .shared,
                busyTimeout: busyTimeout
            )
            return try expectsLog ? overlay(connection) : holdRollback(connection)
        } catch let error as StoreError {
            guard case .unreadable = error, try hasJournalOrLog() else { throw error }
            return try snapshotOfRecoveredCopy(scratchParent)
        }
    }

    /// Whether there is a journal, which SQLite will not play back on a read-only connection
    /// (SQLITE_READONLY_ROLLBACK), or a log that it cannot index without writing
    /// (SQLITE_READONLY_CANTINIT, SQLITE_READONLY_RECOVERY).
    func hasJournalOrLog() throws -> Bool {
        try FileInfo.ifPresent(sidecar("-journal")) != nil
            || FileInfo.ifPresent(sidecar("-wal")) != nil
    }

    private func holdRollback(_ connection: Connection) throws -> StoreSnapshot? {
        try connection.begin()
        // It may have turned to WAL mode since we looked; then there is a log to read.
        guard try FileInfo.ifPresent(sidecar("-wal")) == nil else { return nil }
        return try StoreSnapshot(
            path: path,
            connection: connection,
            state: nil,
            rest: nil,
            scratch: nil
        )
    }

    /// Begins transactions until the log's state was the same before and after one began.
    private func overlay(_ connection: Connection) throws -> StoreSnapshot? {
        for _ in 0..<100_000 {
            let before = try connection.logState()
            try connection.begin()
            if let before, try connection.logState() == before {
                return try StoreSnapshot(
                    path: path,
                    connection: connection,
                    state: before,
                    rest: nil,
                    scratch: nil
                )
            }
            try connection.end()
        }
        return nil
    }

    // MARK: - Without

    private func snapshotAtRest() throws -> StoreSnapshot? {
        guard let rest = try StoreAtRest(location, log: sidecar("-wal")) else {
            throw StoreError.busy(path.description)
        }
        let connection = try Connection(
            location,
            name: path.description,
            access: .immutable,
            busyTimeout: .zero
        )
        try connection.begin()
        guard try rest.isStill() else { return nil }
        return try StoreSnapshot(
            path: path,
            connection: connection,
            state: nil,
            rest: rest,
            scratch: nil
        )
    }

    /// Copies the database with its journal or log, lets SQLite recover the copy, and reads that.
    ///
    /// - Returns: `nil` where the store was opened by an application while it was copied.
    func snapshotOfRecoveredCopy(_ scratchParent: FilePath) throws -> StoreSnapshot? {
        let scratch = try ScratchDirectory(in: scratchParent)
        let copy = scratch.path.appending("copy.sqlite")
        guard try copyUnderLock(to: scratch.path) else { return nil }
        let recovery = try Connection(
            copy,
            name: path.description,
            access: .own,
            busyTimeout: .zero
        )
        try recovery.access { database in
            _ = try Row.fetchAll(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            _ = try Row.fetchAll(database, sql: "SELECT 1 FROM sqlite_master LIMIT 1")
        }
        try recovery.close()
        let connection = try Connection(
            copy,
            name: path.description,
            access: .immutable,
            busyTimeout: .zero
        )
        try connection.begin()
        return try StoreSnapshot(
            path: path,
            connection: connection,
            state: nil,
            rest: nil,
            scratch: scratch
        )
    }

    /// Copies while a lock keeps others from playing back the journal, or from closing the log.
    private func copyUnderLock(to directory: FilePath) throws -> Bool {
        let database = try File.open(location)
        guard try database.lockRecordShared(from: LockBytes.shared, length: LockBytes.sharedLength)
        else {
            throw StoreError.busy(path.description)
        }
        let hadIndex = try FileInfo.ifPresent(sidecar("-shm")) != nil
        let before = try sidecarStates()
        try database.copy(to: directory.appending("copy.sqlite"), syncing: false)
        for suffix in ["-wal", "-journal"] where try FileInfo.ifPresent(sidecar(suffix)) != nil {
            try File.open(sidecar(suffix)).copy(
                to: directory.appending("copy.sqlite\(suffix)"),
                syncing: false
            )
        }
        let hasIndex = try FileInfo.ifPresent(sidecar("-shm")) != nil
        return try hadIndex == hasIndex && sidecarStates() == before
    }

    private func sidecarStates() throws -> [FileInfo?] {
        try [location, sidecar("-wal"), sidecar("-journal")].map { try FileInfo.ifPresent($0) }
    }
}

/// The bytes of a database file that SQLite locks (https://www.sqlite.org/lockingv3.html, os.h).
enum LockBytes {
    /// PENDING, RESERVED and the range of SHARED.
    static let first: Int64 = 0x4000_0000
    static let length: Int64 = 512
    static let shared: Int64 = 0x4000_0002
    static let sharedLength: Int64 = 510
    /// The locks of a shared index (https://www.sqlite.org/walformat.html, 2.2.1) and the one that
    /// every connection has (unix VFS).
    static let index: Int64 = 120
    static let indexLength: Int64 = 9
}

/// A store in WAL mode that nobody has open: there is no log, and so no transaction to hold.
///
/// A shared lock on the database keeps an application that opens it from ending as the last
/// connection, so that the log it makes is there to be seen. Nothing else can change the database.
final class StoreAtRest {
    private let database: File
    private let log: FilePath

    /// Takes the lock; `nil` where another process holds one that excludes it.
    init?(_ path: FilePath, log: FilePath) throws {
        database = try File.open(path)
        self.log = log
        guard try database.lockRecordShared(from: LockBytes.shared, length: LockBytes.sharedLength)
        else {
            return nil
        }
    }

    /// Whether nobody has opened the store since.
    func isStill() throws -> Bool {
        try FileInfo.ifPresent(log) == nil
    }
}

extension Connection {
    /// Begins a read transaction, and reads, which is when SQLite takes the snapshot.
    func begin() throws {
        try access { database in
            try database.execute(sql: "BEGIN")
            _ = try Row.fetchAll(database, sql: "SELECT 1 FROM sqlite_master LIMIT 1")
        }
    }

    /// Ends the transaction.
    func end() throws {
        try access { try $0.execute(sql: "ROLLBACK") }
    }

    /// Which frames a reader that begins now would see; `nil` at a moment at which that changes.
    fileprivate func logState() throws -> WALState? {
        let handle = try handle()
        guard let database = VFSFile.database(of: handle) else { return nil }
        switch database.sharedState() {
        case .state(let state): return state
        case .changing: return nil
        case .absent: break
        }
        // No process keeps the index; SQLite made one for itself, in memory, of what the log holds.
        guard let journal = VFSFile.journal(of: handle) else { return nil }
        let pageSize = try access { try Int.fetchOne($0, sql: "PRAGMA page_size") ?? 0 }
        do {
            return try WriteAheadLog(file: journal, pageSize: pageSize).scan()
        } catch {
            throw storeError(name, code: error.code)
        }
    }
}
