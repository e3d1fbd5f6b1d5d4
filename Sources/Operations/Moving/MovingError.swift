public import Files

/// Why an archive was not moved to where it was to go; nothing was added there.
public enum MovingError: ExplainedError, Equatable {
    /// Both folders are one.
    case sameFolder(String)
    /// The backup is damaged, and a damaged copy would look like a good one.
    case damaged(String, reason: String)
    /// The archive is damaged, and was not taken in.
    case notImported(String, reason: String)
    /// An increment is built on a backup that is neither in the folder nor beside its file.
    case lacksNeed(String, need: String, address: String)
    /// An increment is built on a backup that is in the trash of its folder, and does not come along.
    case needsTrashed(String, need: String)
    /// The folder does not have the bytes that it was given.
    case readBackDiffers(String, address: String)
    /// It was not tried, since the folder could not be reached for the one before.
    case notTried(String)

    public var description: String {
        switch self {
        case .sameFolder(let address): "both folders are '\(address)'"
        case .damaged(let name, let reason): "'\(name)' is damaged: \(reason)"
        case .notImported(let name, let reason):
            "'\(name)' is damaged, and was not imported: \(reason)"
        case .lacksNeed(let name, let need, let address):
            "'\(name)' was not imported: it is built on '\(need)', which is neither in '\(address)' nor beside it"
        case .needsTrashed(let name, let need):
            "'\(name)' cannot be restored from a copy: it is built on '\(need)', which is in the trash"
        case .readBackDiffers(let name, let address):
            "'\(name)' was sent to '\(address)' and read back, and is not the same: the copy was removed"
        case .notTried(let name): "'\(name)' was not tried after that"
        }
    }

    public var hint: String? {
        switch self {
        case .sameFolder: "name another folder to copy to"
        case .damaged: "take another one, or allow damage"
        case .notImported: "get it once more from where it is from"
        case .lacksNeed: "put that archive beside it, or import it first"
        case .needsTrashed: "bring that one back first"
        case .readBackDiffers: "try again; if that happens again, do not trust that folder"
        case .notTried: nil
        }
    }
}
