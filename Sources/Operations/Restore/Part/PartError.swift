public import Files
public import SystemPackage

/// An error that keeps a part of a backup from replacing that part of a stores directory; nothing was changed.
public enum PartError: ExplainedError, Equatable {
    /// The whole directory was named.
    case everything
    /// Something that is not a directory is in place of a directory above a named path.
    case obstructed(String, at: FilePath)
    /// A store's log or journal was named, but not the store.
    case partOfStore(String, store: String)
    /// The path is reserved for the file system, or for restores.
    case reserved(String)
    /// The path cannot be moved, or nothing can be moved to it.
    case unchangeable(FilePath, directory: FilePath)
    /// A file of external data differs in the backup, and a store that was not named may need it.
    case shared(String, store: String)
    /// The path was changed while it was compared with the backup.
    case changed(FilePath)
    /// There are more paths than the restore journal can hold.
    case tooMany(Int)

    public var description: String {
        switch self {
        case .everything: "'.' is the whole backup"
        case .obstructed(let name, let place):
            "'\(name)' cannot be put in its place: '\(printable(place))' is no directory"
        case .partOfStore(let name, let store): "'\(name)' is a part of the store '\(store)'"
        case .reserved(let name): "'\(name)' is never restored"
        case .unchangeable(let path, let directory):
            "'\(printable(path))' cannot be replaced: '\(printable(directory))' may not be changed"
        case .shared(let name, let store):
            "'\(name)' is another file in the backup, and the store '\(store)' may refer to it, too"
        case .changed(let path): "'\(printable(path))' was changed meanwhile"
        case .tooMany(let count):
            "there are \(count) paths to exchange, which is too many"
        }
    }

    public var hint: String? {
        switch self {
        case .everything: "leave out '--only' to restore all of it"
        case .obstructed(_, let place):
            "move '\(printable(place))' away, or name it itself with '--only'"
        case .partOfStore(_, let store), .shared(_, let store):
            "name '\(store)', too, with '--only'"
        case .reserved: "name something else"
        case .unchangeable(_, let directory):
            "give its owner write permission: chmod u+w \(shellWord(directory))"
        case .changed: "try again while no application uses it"
        case .tooMany: "name the directory that they are in with '--only', or restore all"
        }
    }
}
