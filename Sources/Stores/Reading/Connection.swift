internal import Files
internal import Foundation
internal import GRDB
internal import SystemPackage

/// A connection to one database file, opened so that the file's directory stays as it is.
final class Connection {
    /// The assumptions that may be made of the file.
    enum Access: String {
        /// Other processes may write: take part in SQLite's locking, but write no byte, not even in
        /// the shared index (https://www.sqlite.org/c3ref/c_open_autoproxy.html, readonly_shm).
        case shared = "mode=ro&readonly_shm=1"
        /// Nobody writes, and there is no log (https://www.sqlite.org/uri.html, immutable).
        case immutable = "mode=ro&immutable=1"
        /// A file of our own.
        case own = "mode=rw"
    }

    private let queue: DatabaseQueue
    /// The store's name in messages.
    let name: String
    /// What SQLite reads, if that is no file of a file system.
    let source: SourceFile?

    /// Opens a database.
    convenience init(
        _ path: FilePath,
        name: String,
        access: Access,
        busyTimeout: Duration = .zero
    ) throws {
        let uri = Store.uri(of: path, access.rawValue)
        let isWritable = access == .own
        try self.init(uri, name: name, isWritable: isWritable, busyTimeout: busyTimeout, nil)
    }

    /// Opens a database in bytes that nobody changes.
    static func open(_ file: SourceFile, name: String) throws -> Connection {
        try SourceFiles.lend(file, name: name) {
            try Connection($0, name: name, isWritable: false, busyTimeout: .zero, file)
        }
    }

    private init(
        _ uri: String,
        name: String,
        isWritable: Bool,
        busyTimeout: Duration,
        _ source: SourceFile?
    ) throws {
        self.name = name
        self.source = source
        var configuration = Configuration()
        configuration.readonly = !isWritable
        configuration.allowsUnsafeTransactions = true
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(Double(busyTimeout.components.seconds))
        // A mapping is renewed as the file grows, which another reader of the handle does not
        // see; and if another process cuts the file, a mapping ends in a signal.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA mmap_size = 0") }
        queue = try Self.translating(name, source) {
            try DatabaseQueue(path: uri, configuration: configuration)
        }
    }

    /// Runs SQL, with errors as `StoreError`.
    func access<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try Self.translating(name, source) { try queue.inDatabase(body) }
    }

    /// Lets long queries in `body` be stopped (https://www.sqlite.org/c3ref/progress_handler.html).
    ///
    /// - Throws: what `check` throws, in place of what the query made of that.
    func interruptible<Result>(
        by check: @escaping () throws -> Void,
        _ body: () throws -> Result
    ) throws -> Result {
        try QueryWatch.watching(handle(), check, body)
    }

    /// The connection's C handle, for what GRDB has not; valid as long as this object.
    func handle() throws -> OpaquePointer {
        try access { database in
            guard let handle = database.sqliteConnection else {
                throw StoreError.unreadable(name, reason: "its connection is closed")
            }
            return handle
        }
    }

    /// Returns all tables with rows of their own; virtual ones have theirs in others, and may need a
    /// module that is not there.
    func tables() throws -> [String] {
        try access { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT name FROM sqlite_master
                    WHERE type = 'table' AND rootpage > 0 ORDER BY name
                    """
            )
        }
    }

    /// Plays back a journal or a log into the database.
    func playBack() throws {
        try access { database in
            _ = try Row.fetchAll(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            _ = try Row.fetchAll(database, sql: "SELECT 1 FROM sqlite_master LIMIT 1")
        }
    }

    /// Closes it now, with an error if that fails.
    func close() throws {
        try Self.translating(name, source) { try queue.close() }
    }

    private static func translating<Result>(
        _ name: String,
        _ source: SourceFile?,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            if let failure = source?.takeFailure(of: name) { throw failure }
            throw StoreError(name, code: error.resultCode.rawValue, message: error.message)
        }
    }
}
