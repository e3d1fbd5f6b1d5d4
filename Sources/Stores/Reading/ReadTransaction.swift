internal import Files

/// A store held open for a cut: a connection in a transaction, or a lock on a store at rest.
///
/// It owns the connection (with SQLite's descriptors and locks), the lock on a store at rest and the
/// scratch copy, and gives all of them up with its last reference.
final class ReadTransaction {
    /// The ways in which the store is kept as it is while it is read.
    enum Hold {
        /// SQLite's shared lock: writers wait.
        case rollback
        /// A read transaction on the log: nobody waits.
        case log
        /// A shared lock on the file of a store in WAL mode that nobody has open: an application
        /// that opens it cannot end as the last connection, so the log that it makes stays to be seen.
        case rest(File)
        /// Nothing: it is a copy of our own, made of files that were in these states.
        case copy(ScratchDirectory, of: [FileInfo?])
    }

    /// How long to look for a moment at which a log holds still.
    private static let patience = Duration.seconds(2)

    let store: Store
    let connection: Connection
    let hold: Hold
    /// The frames of the log that the transaction sees; `nil` if no log is read.
    private(set) var state: WALState?

    init(_ store: Store, _ connection: Connection, _ hold: Hold) {
        self.store = store
        self.connection = connection
        self.hold = hold
    }

    /// Begins the transaction.
    ///
    /// - Returns: `false` if the store is not held as expected any more: it must be opened anew.
    /// - Throws: `StoreError`.
    func begin() throws -> Bool {
        switch hold {
        case .copy:
            try connection.begin()
            return true
        case .rest, .rollback:
            try connection.begin()
            // It may have been opened, or turned to WAL mode, since we looked; then there is a log.
            return try !store.has("-wal")
        case .log:
            return try beginOnLog()
        }
    }

    /// Begins transactions until the log's state was the same before and after one began: that is
    /// then the state that it sees.
    ///
    /// A reader that may not write in the index may find no place in it (SQLITE_READONLY_CANTINIT) for a
    /// moment, and tries again.
    ///
    /// - Returns: `false` if it found no such moment in time.
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

    /// Begins again if others have written since, to see the store as it is now; see `begin()`.
    func renew() throws -> Bool {
        switch hold {
        case .rollback: return true
        case .rest, .copy: return try isCurrent()
        case .log:
            try connection.end()
            return try beginOnLog()
        }
    }

    /// Returns whether a store at rest is still that; all others are held by a transaction.
    func isStill() throws -> Bool {
        guard case .rest = hold else { return true }
        return try !store.has("-wal")
    }

    /// Returns whether nobody has written to the store since the transaction began.
    func isCurrent() throws -> Bool {
        switch hold {
        case .rollback: true
        case .copy(_, let states): try store.fileStates() == states
        case .rest: try isStill()
        case .log: try connection.logState() == state.map(LogState.state) ?? .absent
        }
    }
}
