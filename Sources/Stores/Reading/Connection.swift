internal import CSQLite
internal import Files
internal import Foundation
internal import GRDB
internal import SystemPackage

/// A connection to one database file, which leaves the file's directory unchanged.
final class Connection {
    /// The assumptions about the file.
    enum Access: String {
        /// Other processes may write. The connection takes part in SQLite's locking but writes no byte, not even in
        /// the shared index (https://www.sqlite.org/c3ref/c_open_autoproxy.html, readonly_shm).
        case shared = "mode=ro&readonly_shm=1"
        /// No process writes, and there is no log (https://www.sqlite.org/uri.html, immutable).
        case immutable = "mode=ro&immutable=1"
        /// The file belongs to this program.
        case own = "mode=rw"
    }

    private let queue: DatabaseQueue
    private let unparsed: UnparsedSchema
    /// The store's name in messages.
    let name: String
    /// The bytes that SQLite reads, if they are not a file of a file system.
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
        // SQLite renews a mapping as the file grows, which another reader of its file handle does not notice. If
        // another process truncates the file, access to a mapping ends in a signal.
        let unparsed = UnparsedSchema()
        self.unparsed = unparsed
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA mmap_size = 0")
            try distrust($0.sqliteConnection, name: name, runsTriggers: isWritable)
            try unparsed.read(by: $0)
        }
        queue = try Self.translating(name, source) {
            try DatabaseQueue(path: uri, configuration: configuration)
        }
    }

    /// The part of the schema that SQLite cannot parse; `nil` if there is none.
    var unparsedSchema: String? { unparsed.reason }

    /// Throws `StoreError.unreadable` if SQLite knows only a part of the schema, since its answers could be wrong.
    func refuseUnparsedSchema() throws {
        if let reason = unparsedSchema { throw StoreError.unreadable(name, reason: reason) }
    }

    /// Makes SQLite read the schema, as far as it can parse it.
    func readSchema() throws { try access(unparsed.read) }

    /// Runs SQL, and throws its errors as `StoreError`.
    func access<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try Self.translating(name, source) { try queue.inDatabase(body) }
    }

    /// Runs `body`, whose long queries can be stopped (https://www.sqlite.org/c3ref/progress_handler.html).
    ///
    /// - Throws: the error of `check`, in place of the query's error.
    func interruptible<Result>(
        by check: @escaping () throws -> Void,
        _ body: () throws -> Result
    ) throws -> Result {
        try QueryWatch.watching(handle(), check, body)
    }

    /// Returns the connection's C handle, for functions that GRDB lacks; it is valid as long as this object.
    func handle() throws -> OpaquePointer {
        try access { database in
            guard let handle = database.sqliteConnection else {
                throw StoreError.unreadable(name, reason: "its connection is closed")
            }
            return handle
        }
    }

    /// Returns all tables with rows of their own.
    ///
    /// Virtual tables keep their rows in others, and may need a missing module.
    func tables() throws -> [String] {
        try access { try $0.namesOfTables() }
    }

    /// Plays back a journal or a log into the database.
    func playBack() throws {
        try access { database in
            _ = try Row.fetchAll(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            _ = try Row.fetchAll(database, sql: "SELECT 1 FROM sqlite_master LIMIT 1")
        }
    }

    /// Closes the connection now, and throws if that fails.
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
            throw StoreError(name, code: error.extendedResultCode.rawValue, message: error.message)
        }
    }
}

/// Makes a connection treat the content of a store as untrusted data.
///
/// Every connection to a store needs this call.
///
/// - Parameters:
///   - database: the connection (`sqlite3 *`), just opened.
///   - name: the store's name in messages.
///   - runsTriggers: whether the application's triggers run, which may write into full-text indexes.
/// - Throws: `StoreError`.
package func distrust(
    _ database: OpaquePointer?,
    name: String,
    runsTriggers: Bool = false
) throws {
    guard let database else {
        throw StoreError.unreadable(name, reason: "its connection is closed")
    }
    let code = csqlite_distrust(database, runsTriggers ? 1 : 0)
    guard code == SQLITE_OK else { throw StoreError(name, code: code, of: database) }
}

extension Database {
    /// Returns the names of the tables with rows of their own.
    func namesOfTables() throws -> [String] {
        try String.fetchAll(
            self,
            sql: """
                SELECT name FROM sqlite_master
                WHERE type = 'table' AND rootpage > 0 ORDER BY name
                """
        )
    }
}
