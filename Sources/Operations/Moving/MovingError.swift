public import Files

/// An error that keeps an archive from being copied, fetched or imported; nothing was added to the target.
public enum MovingError: ExplainedError, Equatable {
    /// Both folders are the same.
    case sameFolder(String)
    /// The backup is damaged, and a damaged copy would look like a good one.
    case damaged(String, reason: String)
    /// The archive is damaged, and was not imported.
    case notImported(String, reason: String)
    /// An archive is encrypted and its name does not say so, or the other way round.
    case misnamed(String, isEncrypted: Bool)
    /// The folder lacks a base backup of an increment, and it is not beside the increment's file either.
    case lacksNeed(String, need: String, address: String)
    /// A base backup of an increment is in the trash of its folder, and is not copied.
    case needsTrashed(String, need: String)
    /// The copy of a base backup is for other recipients than that of the increment.
    case needForOthers(String, need: String, address: String)
    /// The bytes in the folder differ from those that were uploaded.
    case readBackDiffers(String, address: String)
    /// The copy was not tried, because the folder could not be reached before.
    case notTried(String)

    public var outcome: FailureOutcome {
        switch self {
        case .damaged, .notImported: .damaged
        case .lacksNeed, .needsTrashed: .notFound
        case .needForOthers: .password
        case .sameFolder, .misnamed: .usage
        case .readBackDiffers, .notTried: .failed
        }
    }

    public var description: String {
        switch self {
        case .sameFolder(let address): "both folders are '\(address)'"
        case .damaged(let name, let reason): "'\(name)' is damaged: \(reason)"
        case .notImported(let name, let reason):
            "'\(name)' is damaged, and was not imported: \(reason)"
        case .misnamed(let name, let isEncrypted):
            "'\(name)' is \(isEncrypted ? "encrypted" : "not encrypted"), and its name says otherwise"
        case .lacksNeed(let name, let need, let address):
            "'\(name)' was not imported: it is built on '\(need)', which is neither in '\(address)' nor beside it"
        case .needsTrashed(let name, let need):
            "'\(name)' cannot be restored from a copy: it is built on '\(need)', which is in the trash"
        case .needForOthers(let name, let need, let address):
            "'\(name)' is built on '\(need)', whose copy in '\(address)' is for other keys"
        case .readBackDiffers(let name, let address):
            "the copy of '\(name)' in '\(address)' differs when it is read back, and was removed"
        case .notTried(let name): "'\(name)' was not tried after that"
        }
    }

    public var hint: String? {
        switch self {
        case .sameFolder: "name another folder to copy to"
        case .damaged:
            "\(Advice.list) to choose another, or take it as it is with '--allow-damaged'"
        case .notImported: "get it again from its source"
        case .misnamed(_, let isEncrypted):
            "rename it, so that it ends with '\(isEncrypted ? ".zip.age" : ".zip")'"
        case .lacksNeed: "put that archive beside it, or import it first"
        case .needsTrashed(_, let need):
            "run \(Advice.quoted(Advice.command("undelete", need))) first"
        case .needForOthers(_, _, let address):
            "encrypt all of that folder again with \(Advice.quoted(Advice.command("key rotate --remote", address))) first"
        case .readBackDiffers: "try again; if that happens again, do not trust that folder"
        case .notTried: nil
        }
    }
}
