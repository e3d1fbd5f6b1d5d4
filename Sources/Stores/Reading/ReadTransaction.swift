internal import Files

/// A store held open for a cut: a connection in a transaction, or a lock on a store at rest.
///
/// It owns the connection (with SQLite's descriptors and locks), the lock on a store at rest and the scratch copy.
/// It releases all of them with its last reference.
final class ReadTransaction {
    /// The ways to keep the store unchanged while it is read.
    enum Hold {
        /// SQLite's shared lock: writers wait.
        case rollback
        /// A read transaction on the log: no process waits.
        case log
        /// A shared lock on the file of a store in WAL mode that nobody has open.
        ///
        /// An application that opens the store cannot close it as the last connection, so its log remains, and is
        /// noticed.
        case rest(File)
        /// No lock: the store is a copy in a scratch directory, made from files in these states.
        case copy(ScratchDirectory, of: [FileInfo?])
    }

    /// The time limit of the search for a moment without writes to the log.
    private static let patience = Duration.seconds(2)

    let store: Store
    let connection: Connection
    let hold: Hold
    /// The log from which the copy was made, if damage in it hides later transactions.
    var damagedLog: DamagedLog?
    /// The state of the file when the transaction began, for locks that a writer may ignore.
    private var look: Look?
    /// The frames of the log that the transaction sees; `nil` if it reads no log.
    private(set) var state: WALState?

    init(_ store: Store, _ connection: Connection, _ hold: Hold) {
        self.store = store
        self.connection = connection
        self.hold = hold
    }

    /// Begins the transaction.
    ///
    /// - Returns: `false` if the store's condition has changed, so that it must be opened again.
    /// - Throws: `StoreError`.
    func begin() throws -> Bool {
        switch hold {
        case .copy:
            try connection.begin()
            return true
        case .rest, .rollback:
            try connection.begin()
            look = try Look(at: store, connection)
            // The store may have been opened, or switched to WAL mode, since the check. In that case there is a log.
            return try !store.has("-wal")
        case .log:
            return try beginOnLog()
        }
    }

    /// Begins transactions until the log's state is the same before and after one began: that is the state that it
    /// sees.
    ///
    /// A reader that may not write in the index may find no slot in it for a moment (SQLITE_READONLY_CANTINIT), and
    /// tries again.
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

    /// Begins again if other processes have written since, to see the store's current state; see `begin()`.
    func renew() throws -> Bool {
        switch hold {
        case .rollback: return true
        case .rest, .copy: return try isCurrent()
        case .log:
            try connection.end()
            return try beginOnLog()
        }
    }

    /// Returns whether the file is unchanged since the transaction began.
    ///
    /// An application may have opened a store at rest since. A writer may use other locks (nolock, unix-dotfile), or
    /// locks that do not reach this machine.
    func isStill() throws -> Bool {
        guard let look else { return true }
        if case .rest = hold, try store.has("-wal") { return false }
        return try Look(at: store, connection) == look
    }

    /// The evidence of a write: the file's times and size, and its first page with the change counter.
    private struct Look: Equatable {
        var info: FileInfo?
        var start = [UInt8](repeating: 0, count: 4096)

        init(at store: Store, _ connection: Connection) throws {
            let file = try VFSFile.database(of: connection)
            try start.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
            info = try FileInfo.ifPresent(store.location)
        }
    }

    /// Returns whether no process has written to the store since the transaction began.
    func isCurrent() throws -> Bool {
        switch hold {
        case .rollback: true
        case .copy(_, let states): try store.fileStates() == states
        case .rest: try isStill()
        case .log: try connection.logState() == state.map(LogState.state) ?? .absent
        }
    }
}
