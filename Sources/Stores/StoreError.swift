public import Files

/// What can go wrong with a store; the payload is its path below the stores directory.
public enum StoreError: ExplainedError, Equatable {
    /// SQLite finds the store damaged, or cannot make sense of it.
    case damaged(String, reason: String)
    /// Another process holds a lock that lets nobody read.
    case busy(String)
    /// SQLite cannot open or read it for another reason.
    case unreadable(String, reason: String)
    /// Writers were faster than we, every time.
    case neverStill(String)
    /// The sample app's store is there already.
    case exists(String)
    /// The sample app's store is not there.
    case missing(String)
    /// There is no item with a name in the sample app's store.
    case noItem(String)

    public var description: String {
        switch self {
        case .damaged(let store, let reason): "the store '\(store)' is damaged: \(reason)"
        case .busy(let store):
            "the store '\(store)' is locked by another process, which lets nobody read it"
        case .unreadable(let store, let reason): "the store '\(store)' cannot be read: \(reason)"
        case .neverStill(let store): "no moment was found at which '\(store)' could be read"
        case .exists(let store): "there is a store already: '\(store)'"
        case .missing(let store): "there is no store: '\(store)'"
        case .noItem(let name): "there is no item named '\(name)'"
        }
    }

    public var hint: String? {
        switch self {
        case .damaged:
            "restore an older backup, or this one with '--allow-damaged' and repair it: https://www.sqlite.org/recovery.html"
        case .busy: "close the application, or try again when its transaction has ended"
        case .missing:
            "run 'grocerydude init' to make one, or name another directory with '--stores'"
        case .noItem: "run 'grocerydude items' to see them"
        case .exists: "run 'grocerydude items' to see what is in it"
        case .unreadable, .neverStill: nil
        }
    }
}
