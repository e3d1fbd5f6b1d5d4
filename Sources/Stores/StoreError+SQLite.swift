internal import CSQLite

extension StoreError {
    /// Says what a result code of SQLite means for a store (https://www.sqlite.org/rescode.html).
    package init(_ name: String, code: CInt, message: String? = nil) {
        let reason = message ?? String(cString: sqlite3_errstr(code))
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy(name)
        case SQLITE_FULL: self = .noSpace(name)
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: self = .damaged(name, reason: reason)
        // A schema that SQLite's parser does not take.
        case SQLITE_ERROR where reason.contains("malformed"): self = .damaged(name, reason: reason)
        default: self = .unreadable(name, reason: reason)
        }
    }

    /// The error as one of a writer: what cannot be opened or done is no matter of reading.
    package var ofWriting: StoreError {
        switch self {
        case .unreadable(let name, let reason): .unwritable(name, reason: reason)
        case .busy(let name): .busyWriting(name)
        default: self
        }
    }
}
