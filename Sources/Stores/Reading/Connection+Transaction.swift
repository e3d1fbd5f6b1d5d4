internal import GRDB

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

    /// Returns which frames a reader that begins now would see.
    ///
    /// Before the first transaction, and if SQLite found no log for it, that is `absent`: an index
    /// that is mapped for us alone would stay mapped, and locked, when the connection is closed.
    func logState() throws -> LogState {
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
            throw StoreError(name, code: error.code)
        }
    }

    private func isReadingLog() throws -> Bool {
        try access { try String.fetchOne($0, sql: "PRAGMA journal_mode") == "wal" }
    }
}
