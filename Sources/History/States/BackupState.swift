internal import Files
internal import Foundation
internal import GRDB
public import SystemPackage

/// The content of a lineage's backups by file and sector.
///
/// With it, the next backup finds the changes without reading an archive.
///
/// It may be lost at any time; then the next backup is a full one. Everything between `begin()` and `commit()` is one
/// transaction; uncommitted changes are lost. Each row that could harm a restore has a checksum.
public final class BackupState {
    private static let version = "4"
    // A segment's numbers precede its sectors, since columns behind a long value are found page by page.
    private static let schema = """
        PRAGMA page_size = 8192;
        CREATE TABLE IF NOT EXISTS meta (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS made (
            number INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL,
            created TEXT NOT NULL, state TEXT NOT NULL, base INTEGER
        );
        CREATE TABLE IF NOT EXISTS file (
            id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, facts BLOB NOT NULL,
            digests BLOB NOT NULL, sum BLOB NOT NULL
        );
        CREATE TABLE IF NOT EXISTS segment (
            file INTEGER NOT NULL, i INTEGER NOT NULL, digested INTEGER NOT NULL, sum BLOB NOT NULL,
            sectors BLOB NOT NULL, PRIMARY KEY (file, i)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS report (
            path BLOB PRIMARY KEY, standing TEXT NOT NULL, content BLOB NOT NULL, sum BLOB NOT NULL
        ) WITHOUT ROWID;
        """

    private let path: FilePath
    private let queue: DatabaseQueue
    var ahead = EntriesAhead()

    /// Opens the database, which is created if it is missing.
    ///
    /// A damaged one, or one of another version, is replaced by a new one.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public init(_ path: FilePath) throws {
        self.path = path
        do {
            queue = try Self.open(path)
        } catch HistoryError.damaged {
            try Self.remove(path)
            queue = try Self.open(path)
        }
    }

    /// Opens the database to read it only; returns `nil` if it is missing, or of another version.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public init?(reading path: FilePath) throws {
        guard try FileInfo.ifPresent(path) != nil else { return nil }
        self.path = path
        queue = try Self.translating(path) {
            var configuration = Configuration()
            configuration.readonly = true
            return try DatabaseQueue(path: path.string, configuration: configuration)
        }
        guard try text("version") == Self.version else { return nil }
    }

    /// Removes a database, and SQLite's files beside it.
    ///
    /// - Throws: `FileError`.
    public static func remove(_ path: FilePath) throws {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            try LocalFileSystem().remove(FilePath(path.string + suffix))
        }
    }

    private static func open(_ path: FilePath) throws -> DatabaseQueue {
        try LocalFileSystem().createDirectories(path.removingLastComponent())
        // SQLite would create it with the mode that the umask allows.
        if try FileInfo.ifPresent(path) == nil { _ = try? File.create(path) }
        return try translating(path) {
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let queue = try DatabaseQueue(path: path.string, configuration: configuration)
            try queue.inDatabase { database in
                try database.execute(sql: schema)
                let version = try String.fetchOne(
                    database,
                    sql: "SELECT v FROM meta WHERE k = 'version'"
                )
                if let version, version != Self.version {
                    throw HistoryError.damaged(path, reason: "it is of version \(version)")
                }
                try database.execute(
                    sql: "INSERT OR IGNORE INTO meta VALUES ('version', ?)",
                    arguments: [Self.version]
                )
            }
            return queue
        }
    }

    /// Closes the database, which must not be used afterwards.
    public func close() { try? queue.close() }

    // MARK: - Transactions

    /// Begins a transaction.
    ///
    /// - Throws: `HistoryError.busy` if another run has a transaction.
    public func begin() throws {
        ahead = EntriesAhead()
        try execute("BEGIN IMMEDIATE")
    }

    /// Commits all changes since `begin()`.
    public func commit() throws { try execute("COMMIT") }

    /// Drops all changes since `begin()`.
    public func rollBack() {
        ahead = EntriesAhead()
        try? execute("ROLLBACK")
    }

    /// Deletes everything about files and backups.
    public func clear() throws {
        ahead = EntriesAhead()
        try execute("DELETE FROM made; DELETE FROM file; DELETE FROM segment; DELETE FROM report")
    }

    // MARK: - Values

    /// Returns the value of a key.
    public func text(_ key: String) throws -> String? {
        try access {
            try String.fetchOne($0, sql: "SELECT v FROM meta WHERE k = ?", arguments: [key])
        }
    }

    /// Sets the value of a key.
    public func set(_ key: String, _ value: String) throws {
        try access {
            try $0.execute(
                sql: "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                arguments: [key, value]
            )
        }
    }

    // MARK: - Backups

    /// A backup of the lineage.
    public struct Made: Sendable, Equatable {
        public var number: Int
        public var name: String
        /// The size of its archive in bytes.
        public var size: Int64
        public var created: String
        public var state: String
        /// The number of the backup that it is built on; `nil` for a full one.
        public var base: Int?

        public init(
            number: Int,
            name: String,
            size: Int64,
            created: String,
            state: String,
            base: Int?
        ) {
            self.number = number
            self.name = name
            self.size = size
            self.created = created
            self.state = state
            self.base = base
        }
    }

    /// Returns the backups since the last full one, by number.
    public func made() throws -> [Made] {
        try access { database in
            try Row.fetchAll(database, sql: "SELECT * FROM made ORDER BY number").map { row in
                Made(
                    number: row["number"],
                    name: row["name"],
                    size: row["size"],
                    created: row["created"],
                    state: row["state"],
                    base: row["base"]
                )
            }
        }
    }

    /// Adds a backup, or replaces the one with its number.
    public func add(_ made: Made) throws {
        try access {
            try $0.execute(
                sql: """
                    INSERT OR REPLACE INTO made (number, name, size, created, state, base)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    made.number, made.name, made.size, made.created, made.state, made.base,
                ]
            )
        }
    }

    // MARK: - Access

    func execute(_ sql: String) throws { try access { try $0.execute(sql: sql) } }

    func access<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try Self.translating(path) { try queue.inDatabase(body) }
    }

    func damaged(_ reason: String) -> HistoryError { .damaged(path, reason: reason) }

    private static func translating<Result>(
        _ path: FilePath,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw HistoryError(error, of: path)
        }
    }
}
