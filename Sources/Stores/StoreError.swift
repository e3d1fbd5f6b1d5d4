internal import CSQLite
public import Files

/// An error with a store; the payload is its path below the stores directory.
public enum StoreError: ExplainedError, Equatable {
    /// SQLite finds the store damaged, or cannot interpret it.
    case damaged(String, reason: String)
    /// The bytes of a page in a backup differ from the saved ones.
    case damagedPage(String, page: Int64, reason: String)
    /// Another process holds a lock that excludes readers.
    case busy(String)
    /// Another process holds a lock that excludes other writers.
    case busyWriting(String)
    /// SQLite cannot open or read the store for another reason.
    case unreadable(String, reason: String)
    /// SQLite cannot write to the store.
    case unwritable(String, reason: String)
    /// The disk of the store, or that of SQLite's temporary files, is full.
    case noSpace(String)
    /// Other processes wrote during every attempt to read.
    case neverStill(String)

    public var outcome: FailureOutcome {
        switch self {
        case .busy, .busyWriting: .inUse
        case .damagedPage: .damaged
        case .noSpace: .noSpace
        case .damaged, .unreadable, .unwritable, .neverStill: .failed
        }
    }

    public var description: String {
        switch self {
        case .damaged(let store, let reason): "the store '\(store)' is damaged: \(reason)"
        case .damagedPage(let store, let page, let reason):
            "the store '\(store)' is damaged at page \(page): \(reason)"
        case .busy(let store):
            "the store '\(store)' is locked by another process, which lets nobody read it"
        case .busyWriting(let store):
            "the store '\(store)' is locked by another process, which lets nobody else write it"
        case .unreadable(let store, let reason): "the store '\(store)' cannot be read: \(reason)"
        case .unwritable(let store, let reason):
            "the store '\(store)' cannot be written: \(reason)"
        case .noSpace(let store):
            "the store '\(store)' cannot be written: there is no space left on its disk"
        case .neverStill(let store): "'\(store)' never held still long enough to be read"
        }
    }

    public var hint: String? {
        switch self {
        case .damaged:
            "restore it with 'grocerydude restore', or repair it: https://www.sqlite.org/recovery.html"
        case .damagedPage: Advice.olderBackup
        case .busy, .busyWriting:
            "close the application, or try again when its transaction has ended"
        case .unwritable(let store, _):
            "make sure that you may write to '\(store)' and to its directory, and that its disk is not read-only"
        case .noSpace(let store): "free some space where '\(store)' is, and try again"
        case .unreadable, .neverStill: nil
        }
    }
}

extension StoreError {
    /// Translates a result code of SQLite into an error of a store (https://www.sqlite.org/rescode.html).
    package init(_ name: String, code: CInt, message: String? = nil) {
        let reason = message ?? String(cString: sqlite3_errstr(code))
        if let unparsed = UnparsedSchema.reason(message) {
            self = .unreadable(name, reason: unparsed)
            return
        }
        // The index of a log grows as soon as it is opened for writing.
        if code == SQLITE_IOERR | 19 << 8 {  // SQLITE_IOERR_SHMSIZE
            self = .noSpace(name)
            return
        }
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy(name)
        case SQLITE_FULL: self = .noSpace(name)
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: self = .damaged(name, reason: reason)
        // SQLite's parser refuses the schema.
        case SQLITE_ERROR where reason.contains("malformed"): self = .damaged(name, reason: reason)
        default: self = .unreadable(name, reason: reason)
        }
    }

    /// The same error in the words for a writer.
    package var ofWriting: StoreError {
        switch self {
        case .unreadable(let name, let reason): .unwritable(name, reason: reason)
        case .busy(let name): .busyWriting(name)
        default: self
        }
    }
}
