internal import CSQLite
internal import Files
internal import Foundation
internal import GRDB
internal import SystemPackage

/// A store that is being read: a connection in a read transaction, or a lock on a store at rest.
///
/// Who closes what: the session owns the connection (which owns SQLite's descriptors and locks),
/// the lock on a store at rest and the scratch copy, and gives all of them up with its last
/// reference.
final class StoreSession {
    /// What keeps the store as it is while it is read.
    enum Hold {
        /// SQLite's shared lock: writers wait.
        case rollback
        /// A read transaction on the log: nobody waits.
        case log
        /// A lock on a store that nobody has open.
        case rest(StoreAtRest)
        /// Nothing: it is a copy of our own, made of files that were in these states.
        case copy(ScratchDirectory, of: [FileInfo?])
    }

    /// How long to look for a moment at which a log holds still.
    private static let patience = Duration.seconds(2)

    let store: Store
    let connection: Connection
    let hold: Hold
    /// The frames of the log that the transaction sees; `nil` where no log is read.
    private(set) var state: WALState?

    init(_ store: Store, _ connection: Connection, _ hold: Hold) {
        self.store = store
        self.connection = connection
        self.hold = hold
    }

    /// Begins the transaction.
    ///
    /// - Returns: `false` where the store is not held as expected any more: it must be opened anew.
    /// - Throws: `StoreError`.
    func begin() throws -> Bool {
        switch hold {
        case .copy:
            try connection.begin()
            return true
        case .rest(let rest):
            try connection.begin()
            return try rest.isStill()
        case .rollback:
            try connection.begin()
            // It may have turned to WAL mode since we looked; then there is a log to read.
            return try FileInfo.ifPresent(store.sidecar("-wal")) == nil
        case .log:
            return try beginOnLog()
        }
    }

    /// Begins transactions until the log's state was the same before and after one began: that is
    /// then the state that it sees.
    ///
    /// A reader that may not write in the index finds no place in it for moments at which all are
    /// taken for newer frames than it has seen (SQLITE_READONLY_CANTINIT); it tries again, unless
    /// that goes on for ever.
    /// - Returns: `false` where there was no such moment in all the time that it tried.
    private func beginOnLog() throws -> Bool {
        let deadline = ContinuousClock.now + Self.patience
        var refusal: StoreError?
        repeat {
            let before = try connection.logState()
            do {
                try connection.begin()
                let after = try connection.logState()
                if before == after, before != .changing {
                    state = if case .state(let seen) = after { seen } else { nil }
                    return true
                }
                refusal = nil
            } catch let error as StoreError {
                guard case .unreadable = error else { throw error }
                refusal = error
            }
            try connection.end()
        } while ContinuousClock.now < deadline
        if let refusal { throw refusal }
        return false
    }

    /// Begins again, to see the store as it is now, where others may have written since.
    ///
    /// - Returns: see `begin()`.
    /// - Throws: `StoreError`.
    func renew() throws -> Bool {
        switch hold {
        case .rollback: return true
        case .rest, .copy: return try isCurrent()
        case .log:
            try connection.end()
            return try beginOnLog()
        }
    }

    /// Whether nobody has written to the store since the transaction began.
    ///
    /// - Throws: `StoreError`.
    func isCurrent() throws -> Bool {
        switch hold {
        case .rollback: true
        case .copy(_, let states): try store.fileStates() == states
        case .rest(let rest): try rest.isStill()
        case .log: try connection.logState() == state.map(LogState.state) ?? .absent
        }
    }
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
        guard
            try database.lockRecordShared(from: LockBytes.shared, length: LockBytes.sharedLength)
        else {
            return nil
        }
    }

    /// Whether nobody has opened the store since.
    func isStill() throws -> Bool {
        try FileInfo.ifPresent(log) == nil
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

extension Connection {
    /// Begins a read transaction, and reads, which is when SQLite takes the snapshot.
    func begin() throws {
        try access { database in
            try database.execute(sql: "BEGIN")
            try database.cachedStatement(sql: "SELECT 1 FROM sqlite_master LIMIT 1").execute()
        }
    }

    /// Ends the transaction.
    func end() throws {
        try access { try $0.execute(sql: "ROLLBACK") }
    }

    /// Which frames a reader that begins now would see.
    ///
    /// Before the first transaction, and where SQLite found no log for it, that is `absent`: an index
    /// that is mapped for us alone would stay mapped, and locked, when the connection is closed.
    fileprivate func logState() throws -> LogState {
        let handle = try handle()
        guard let database = VFSFile.database(of: handle),
            let journal = VFSFile.journal(of: handle)
        else { return .absent }
        let state = database.sharedState()
        guard state == .absent else { return state }
        // No process keeps the index; SQLite made one for itself, in memory, of what the log holds.
        // Without a log open it reads the database alone, under its lock.
        guard try isReadingLog() else { return .absent }
        let pageSize = try access { try Int.fetchOne($0, sql: "PRAGMA page_size") ?? 0 }
        do {
            return .state(try WriteAheadLog(file: journal, pageSize: pageSize).scan())
        } catch {
            throw storeError(name, code: error.code)
        }
    }

    private func isReadingLog() throws -> Bool {
        try access { try String.fetchOne($0, sql: "PRAGMA journal_mode") == "wal" }
    }
}
