internal import GRDB

extension Connection {
    /// Begins a read transaction, and reads the schema, since SQLite takes the snapshot with the first read.
    func begin() throws {
        try access { try $0.execute(sql: "BEGIN") }
        try readSchema()
    }

    /// Returns the length of a page in bytes, and the number of pages.
    func pages() throws -> (size: Int, count: Int64) {
        try access { database in
            (
                try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0,
                try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            )
        }
    }

    func end() throws {
        try access { try $0.execute(sql: "ROLLBACK") }
    }

    /// Returns the frames that a reader would see if it began now.
    ///
    /// It returns `absent` before the first transaction, and if SQLite found no log for it. An index that is mapped
    /// for this connection alone would stay mapped, and locked, after the connection is closed.
    func logState() throws -> LogState {
        guard let log = try VFSFile.log(of: self) else { return .absent }
        let state = try VFSFile.database(of: self).sharedState()
        guard state == .absent else { return state }
        // No process keeps the index: SQLite has built its own from the log, in memory. If no log is open, SQLite
        // reads only the database, under its lock.
        let (mode, pageSize) = try access { database in
            (
                try String.fetchOne(database, sql: "PRAGMA journal_mode"),
                try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
            )
        }
        guard mode == "wal" else { return .absent }
        return .state(try WriteAheadLog(file: log, pageSize: pageSize).scan().state)
    }

    /// Returns the damage in a log for which no process keeps an index; see `WriteAheadLog.Scan`.
    func damageOfUnusedLog() throws -> String? {
        // In other modes SQLite would never close the index that it opens here.
        guard try isInWALMode(), try VFSFile.database(of: self).sharedState() == .absent else {
            return nil
        }
        return try damageOfLog()
    }

    private func isInWALMode() throws -> Bool {
        try access { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal"
    }

    /// Returns the damage in the log; see `WriteAheadLog.Scan`.
    func damageOfLog() throws -> String? {
        guard let log = try VFSFile.log(of: self) else { return nil }
        guard try isInWALMode() else { return nil }
        let pageSize = try access { try Int.fetchOne($0, sql: "PRAGMA page_size") ?? 0 }
        return try WriteAheadLog(file: log, pageSize: pageSize).scan().damage
    }
}
