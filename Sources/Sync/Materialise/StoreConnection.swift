internal import SystemPackage
internal import CSQLite
internal import Files
internal import Foundation
internal import GRDB
internal import Stores

/// The connection that writes into a store, with triggers, foreign keys and checkpoints off.
///
/// It stays open between the parts of a long write. As long as no other connection has written, the store equals its
/// shadow, and need not be compared again. A commit between the last comparison and the first write is found by the
/// next run. Until then a row that it changed is left out, since each row is compared with its shadow when it is
/// written.
///
/// While it is open, nothing else in this process may open the store's files, since closing them would drop its
/// locks.
final class StoreConnection {
    /// The length of a log, in bytes, from which the connection is closed after a write.
    ///
    /// SQLite then moves the log into the store, if no other connection is open.
    private static let longLog: Int64 = 64 << 20

    private let store: Store
    private let busyTimeout: Duration
    private var queue: DatabaseQueue?
    /// SQLite's counter of others' commits at our last write; `nil` if the store must be compared.
    private var dataVersion: Int64?

    /// Creates the connection without opening the store.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - busyTimeout: the longest wait for another writer.
    init(_ store: Store, busyTimeout: Duration) {
        self.store = store
        self.busyTimeout = busyTimeout
    }

    deinit { close() }

    /// Closes the connection, so that the store's files may be opened.
    func close() {
        try? queue?.close()
        queue = nil
        dataVersion = nil
    }

    /// Reads in one transaction, if no other connection has written since our last write, or replaced the file.
    ///
    /// - Returns: `nil` if one has, or may have.
    /// - Throws: `StoreError`; any error of `body`.
    func reading<Result>(_ body: (RowFinder) throws -> Result) throws -> Result? {
        guard let queue, let dataVersion else { return nil }
        return try translating {
            try queue.inDatabase { database in
                guard let handle = database.sqliteConnection else { return nil }
                try execute("BEGIN", handle)
                defer { try? execute("ROLLBACK", handle) }
                // The read begins here: https://www.sqlite.org/pragma.html#pragma_data_version
                guard try self.dataVersion(handle) == dataVersion, try !hasMoved(handle) else {
                    return nil
                }
                return try body(RowFinder(handle, name: name))
            }
        }
    }

    /// Writes in one transaction.
    ///
    /// - Parameters:
    ///   - triggers: the store's triggers that run although triggers are off.
    ///   - body: a closure that returns `nil` to write nothing.
    /// - Returns: the result of `body`; `nil`, with nothing written, if another file replaced the store.
    /// - Throws: `StoreError`, which is `.busyWriting` if another writer does not finish. Nothing is written if it
    ///   throws.
    func writing<Result>(
        _ triggers: [SyncTrigger],
        _ body: (OpaquePointer) throws -> Result?
    ) throws -> Result? {
        let result: Result? = try translating {
            do {
                return try open(triggers).inDatabase { database in
                    guard let handle = database.sqliteConnection else { return nil }
                    return try write(handle, body)
                }
            } catch let error as StoreError {
                throw error.ofWriting
            }
        }
        if result == nil || hasLongLog() { close() }
        return result
    }

    private func write<Result>(
        _ handle: OpaquePointer,
        _ body: (OpaquePointer) throws -> Result?
    ) throws -> Result? {
        try execute("BEGIN IMMEDIATE", handle)
        do {
            // Our own commits do not change it.
            let now = try dataVersion(handle)
            // Data written into a file that was replaced would be lost.
            guard let result = try body(handle), try !hasMoved(handle) else {
                try execute("ROLLBACK", handle)
                return nil
            }
            try execute("COMMIT", handle)
            dataVersion = dataVersion == nil || dataVersion == now ? now : nil
            return result
        } catch {
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK", handle) }
            throw error
        }
    }

    private func open(_ triggers: [SyncTrigger]) throws -> DatabaseQueue {
        if let queue { return queue }
        try store.refuseForeignSuperJournal()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(Double(busyTimeout.components.seconds))
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { [name] in
            try distrust($0.sqliteConnection, name: name, runsTriggers: true)
        }
        let queue = try DatabaseQueue(path: store.writableURI, configuration: configuration)
        try queue.inDatabase { database in
            guard let handle = database.sqliteConnection else { return }
            try prepare(handle, triggers)
        }
        self.queue = queue
        return queue
    }

    private func prepare(_ handle: OpaquePointer, _ triggers: [SyncTrigger]) throws {
        for sql in [
            "PRAGMA foreign_keys = OFF", "PRAGMA recursive_triggers = OFF",
            "PRAGMA wal_autocheckpoint = 0",
        ] {
            try execute(sql, handle)
        }
        guard csqlite_enable_triggers(handle, 0) == SQLITE_OK else {
            throw StoreError(name, code: sqlite3_errcode(handle), of: handle)
        }
        // Copies of the triggers that maintain data that do not sync.
        for trigger in triggers where trigger.treatment == .copied {
            try SchemaText.run(
                trigger.sql,
                of: .trigger,
                isTemporary: true,
                on: handle,
                name: name
            )
        }
    }

    // MARK: - SQL

    private var name: String { store.path.description }

    /// Returns whether the log is long, or cannot be examined.
    private func hasLongLog() -> Bool {
        let log = FilePath("\(store.location)-wal")
        do {
            return try FileInfo.ifPresent(log).map { $0.size >= Self.longLog } ?? false
        } catch {
            return true
        }
    }

    /// Returns whether the file was renamed or removed since it was opened, for example because another replaced it.
    private func hasMoved(_ handle: OpaquePointer) throws -> Bool {
        // See https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntlhasmoved.
        var moved: CInt = 0
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        guard code == SQLITE_OK else { throw StoreError(name, code: code, of: handle) }
        return moved != 0
    }

    private func dataVersion(_ handle: OpaquePointer) throws -> Int64 {
        let statement = try Statement(handle, name: name, "PRAGMA main.data_version")
        return try statement.step() ? statement.integer(0) : -1
    }

    private func execute(_ sql: String, _ handle: OpaquePointer) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw StoreError(name, code: code, of: handle) }
    }

    private func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw StoreError(name, code: error.resultCode.rawValue, message: error.message)
                .ofWriting
        }
    }
}
