public import Files

/// An error with a store; the payload is its path below the stores directory.
public enum StoreError: ExplainedError, Equatable {
    /// SQLite finds the store damaged, or cannot make sense of it.
    case damaged(String, reason: String)
    /// The bytes of a page in a backup are not those that were saved.
    case damagedPage(String, page: Int64, reason: String)
    /// Another process holds a lock that lets nobody read.
    case busy(String)
    /// Another process holds a lock that lets nobody write.
    case busyWriting(String)
    /// SQLite cannot open or read it for another reason.
    case unreadable(String, reason: String)
    /// SQLite cannot write to it.
    case unwritable(String, reason: String)
    /// The disk that it is on, or that of SQLite's temporary files, is full.
    case noSpace(String)
    /// Writers were faster than we, every time.
    case neverStill(String)

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
        case .neverStill(let store): "no moment was found at which '\(store)' could be read"
        }
    }

    public var hint: String? {
        switch self {
        case .damaged:
            "restore an older backup, or repair it: https://www.sqlite.org/recovery.html"
        case .damagedPage: "try an older backup; a copy in another place may be whole"
        case .busy, .busyWriting:
            "close the application, or try again when its transaction has ended"
        case .unwritable(let store, _):
            "see that you may write to '\(store)' and to its directory, and that its disk is not read-only"
        case .noSpace(let store): "free some space where '\(store)' is, and try again"
        case .unreadable, .neverStill: nil
        }
    }
}
