public import Files
public import SystemPackage

/// Why a part of a backup is not put in the place of that part of a stores directory; nothing was changed.
public enum PartError: ExplainedError, Equatable {
    /// The whole directory was named.
    case everything
    /// Something else is in the place of a directory that leads to what was named.
    case obstructed(String, at: FilePath)
    /// A store's log or journal was named, and not the store.
    case partOfStore(String, store: String)
    /// It belongs to the file system, or to restores.
    case reserved(String)
    /// It cannot be moved, or nothing can be moved to it.
    case unchangeable(FilePath, directory: FilePath)
    /// The backup has a directory that its owner may not change, so that it cannot be moved.
    case unmovable(String)
    /// A file of external data is another one in the backup, and a store that was not named may need it.
    case shared(String, store: String)
    /// It was changed while it was compared with the backup.
    case changed(FilePath)
    /// There are more paths than can be remembered.
    case tooMany(Int)

    public var description: String {
        switch self {
        case .everything: "'.' is all that is in the backup"
        case .obstructed(let name, let place):
            "'\(name)' cannot be put in its place: '\(printable(place))' is no directory"
        case .partOfStore(let name, let store): "'\(name)' is a part of the store '\(store)'"
        case .reserved(let name): "'\(name)' is never restored"
        case .unchangeable(let path, let directory):
            "'\(printable(path))' cannot be replaced: '\(printable(directory))' may not be changed"
        case .unmovable(let name):
            "'\(name)' cannot be put in its place: in the backup it is a directory that may not be changed"
        case .shared(let name, let store):
            "'\(name)' is another file in the backup, and the store '\(store)' may refer to it, too"
        case .changed(let path): "'\(printable(path))' was changed meanwhile"
        case .tooMany(let count):
            "there are \(count) paths to exchange, more than can be remembered"
        }
    }

    public var hint: String? {
        switch self {
        case .everything: "restore all of it without naming a part"
        case .obstructed(_, let place): "move '\(printable(place))' away, or name it itself"
        case .partOfStore(_, let store), .shared(_, let store): "name '\(store)', too"
        case .reserved: "name something else"
        case .unchangeable(_, let directory):
            "let its owner change it: chmod u+w '\(printable(directory))'"
        case .unmovable: "extract it elsewhere, and put it in place by hand"
        case .changed: "try again while no application uses it"
        case .tooMany: "name the directory that they are in, or restore all"
        }
    }
}
