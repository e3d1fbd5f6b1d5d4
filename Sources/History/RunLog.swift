internal import Files
internal import Foundation
internal import GRDB
internal import Synchronization
public import SystemPackage

/// The log of runs, and of checks of backups, in a SQLite database.
///
/// The log is opened when it is first needed, and prunes itself. A damaged log is moved to `NAME.damaged`, and a new
/// one is created. Policies then no longer know how deeply each backup was checked.
public final class RunLog: Sendable {
    private struct State {
        var queue: DatabaseQueue?
        var putAside: FilePath?
    }

    /// The number of runs that are kept for each command, profile, stores directory and remote folder.
    public static let keptRuns = 1000

    private let path: FilePath
    private let busyTimeout: Duration
    private let entriesLimit: Int
    private let state = Mutex(State())

    /// Creates a log on a database, which need not exist.
    ///
    /// - Parameters:
    ///   - path: the path of the database.
    ///   - busyTimeout: the time to wait for another process.
    ///   - entriesLimit: the maximum number of runs for each command, profile, stores directory and remote folder.
    public init(
        _ path: FilePath,
        busyTimeout: Duration = .seconds(5),
        entriesLimit: Int = RunLog.keptRuns
    ) {
        self.path = path
        self.busyTimeout = busyTimeout
        self.entriesLimit = entriesLimit
    }

    /// The new path of a damaged log, if one was found.
    public var putAside: FilePath? { state.withLock { $0.putAside } }

    /// Adds a run, and removes excess ones.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func record(_ entry: Entry) throws {
        try writing { try add(entry, to: $0) }
    }

    private func add(_ entry: Entry, to database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO run (command, profile, stores, remote, began, duration, exit_code,
                    message, backup, size, bytes, origin, safety)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                entry.command, entry.profile, entry.stores, entry.remote,
                milliseconds(entry.began), milliseconds(entry.duration), entry.exitCode,
                entry.message, entry.backup, entry.size, entry.bytes, entry.origin,
                entry.safety,
            ]
        )
        // The order is used instead of the dates, since clocks may be wrong. The last success is news for ever.
        try database.execute(
            sql: """
                DELETE FROM run WHERE command = ?1 AND profile IS ?2 AND stores = ?3
                    AND remote = ?4 AND id <= (
                        SELECT id FROM run WHERE command = ?1 AND profile IS ?2
                            AND stores = ?3 AND remote = ?4
                        ORDER BY id DESC LIMIT 1 OFFSET ?5)
                    AND id IS NOT (
                        SELECT max(id) FROM run WHERE command = ?1 AND profile IS ?2
                            AND stores = ?3 AND remote = ?4 AND exit_code = 0)
                """,
            arguments: [entry.command, entry.profile, entry.stores, entry.remote, entriesLimit]
        )
    }

    /// Returns the last runs, newest first; none if there is no log.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func entries(_ filter: Filter = Filter(), limit: Int = .max) throws -> [Entry] {
        try reading(else: []) { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM run WHERE (?1 IS NULL OR command = ?1)
                        AND (?2 IS NULL OR profile = ?2) AND (?3 IS NULL OR stores = ?3)
                        AND (?4 IS NULL OR remote = ?4) AND (NOT ?5 OR exit_code = 0)
                    ORDER BY id DESC LIMIT ?6
                    """,
                arguments: [
                    filter.command, filter.profile, filter.stores, filter.remote,
                    filter.isSuccess, limit,
                ]
            )
            .map(Entry.init)
        }
    }

    // MARK: - Runs without news

    /// Notes a run that changed nothing, in place of the last one of its job: that it was made, and no more.
    ///
    /// After a failure, the run is added as any other, since the end of trouble is news.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func note(uneventful entry: Entry) throws {
        try writing { database in
            let last = try Int32.fetchOne(
                database,
                sql: """
                    SELECT exit_code FROM run WHERE command = ? AND profile IS ? AND stores = ? AND remote = ?
                    ORDER BY id DESC LIMIT 1
                    """,
                arguments: [entry.command, entry.profile, entry.stores, entry.remote]
            )
            if last ?? 0 != 0 { return try add(entry, to: database) }
            try database.execute(
                sql: "INSERT OR REPLACE INTO uneventful VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    entry.command, entry.profile ?? "", entry.stores, entry.remote,
                    milliseconds(entry.began), milliseconds(entry.duration),
                ]
            )
        }
    }

    /// Returns the last runs of a command that changed nothing, one a profile.
    ///
    /// - Throws: `HistoryError`, `FileError`.
    public func uneventful(_ command: String, _ stores: String, _ remote: String) throws -> [Entry]
    {
        try reading(else: []) { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT command, nullif(profile, '') AS profile, stores, remote, began, duration,
                        0 AS exit_code FROM uneventful
                    WHERE command = ? AND stores = ? AND remote = ?
                    """,
                arguments: [command, stores, remote]
            )
            .map(Entry.init)
        }
    }

    // MARK: - The database

    /// Changes the database, which is created if it is missing.
    func writing(_ body: (Database) throws -> Void) throws {
        try recovering {
            try LocalFileSystem().createDirectories(path.removingLastComponent())
            try open(&$0).write(body)
        }
    }

    /// Reads the database if it exists.
    func reading<Result: Sendable>(
        else nothing: Result,
        _ body: (Database) throws -> Result
    ) throws -> Result {
        try recovering {
            guard try FileInfo.ifPresent(path) != nil else { return nothing }
            return try open(&$0).read(body)
        }
    }

    private func open(_ state: inout State) throws -> DatabaseQueue {
        if let queue = state.queue { return queue }
        // SQLite would create it with the mode that the umask allows.
        if try FileInfo.ifPresent(path) == nil { _ = try? File.create(path) }
        var configuration = Configuration()
        configuration.busyMode = .timeout(Double(busyTimeout.components.seconds))
        let queue = try DatabaseQueue(path: path.string, configuration: configuration)
        try RunLogSchema.migrator.migrate(queue)
        state.queue = queue
        return queue
    }

    /// Retries once with a new database if the present one is damaged.
    private func recovering<Result: Sendable>(
        _ body: (inout State) throws -> Result
    ) throws -> Result {
        try state.withLock { state in
            do {
                return try translating { try body(&state) }
            } catch HistoryError.damaged {
                try? state.queue?.close()
                state.queue = nil
                state.putAside = try putAsideDamaged()
                return try translating { try body(&state) }
            }
        }
    }

    private func putAsideDamaged() throws -> FilePath {
        let name = path.lastComponent?.string ?? "log"
        let aside = path.removingLastComponent().appending("\(name).damaged")
        let fileSystem = LocalFileSystem()
        try fileSystem.remove(aside)
        try fileSystem.move(path, to: aside)
        // SQLite must not play back the damaged database's journal into the new one.
        for suffix in ["-journal", "-wal", "-shm"] {
            try fileSystem.remove(path.removingLastComponent().appending(name + suffix))
        }
        return aside
    }

    private func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            // SQLite does not say why.
            if error.resultCode == .SQLITE_CANTOPEN, try FileInfo.ifPresent(path)?.kind == .file,
                !path.allowsWriting
            {
                throw FileError.failed(.open, path, .permissionDenied)
            }
            throw HistoryError(error, of: path)
        } catch let error as CocoaError {
            throw HistoryError.unreadable(path, reason: error.localizedDescription)
        }
    }
}

/// Returns milliseconds since 1970-01-01 UTC.
func milliseconds(_ date: Date) -> Int64 {
    Int64((date.timeIntervalSince1970 * 1000).rounded())
}

func milliseconds(_ duration: Duration) -> Int64 {
    duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
}

func date(_ milliseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(milliseconds) / 1000)
}
