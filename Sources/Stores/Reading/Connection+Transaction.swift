internal import GRDB

extension Connection {
    /// Begins a read transaction, and reads, which is when SQLite takes the snapshot.
    func begin() throws {
        try access { database in
            try database.execute(sql: "BEGIN")
            try database.cachedStatement(sql: "SELECT 1 FROM sqlite_master LIMIT 1").execute()
        }
    }

    /// Returns how many bytes a page has, and how many pages there are.
    func pages() throws -> (size: Int, count: Int64) {
        try access { database in
            (
                try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0,
                try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            )
        }
    }

    /// Ends the transaction.
    func end() throws {
        try access { try $0.execute(sql: "ROLLBACK") }
    }

    /// Returns which frames a reader that begins now would see; `absent` before the first transaction,
    /// and if SQLite found no log for it.
    ///
    /// An index mapped for us alone would stay mapped, and locked, when the connection is closed.
    func logState() throws -> LogState {
        guard let log = try VFSFile.log(of: self) else { return .absent }
        let state = try VFSFile.database(of: self).sharedState()
        guard state == .absent else { return state }
        // No process keeps the index; SQLite made one for itself, in memory, of what the log holds.
        // Without a log open it reads the database alone, under its lock.
        let (mode, pageSize) = try access { database in
            (
                try String.fetchOne(database, sql: "PRAGMA journal_mode"),
                try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
            )
        }
        guard mode == "wal" else { return .absent }
        return .state(try WriteAheadLog(file: log, pageSize: pageSize).scan())
    }
}
