public import Files

/// A reason not to trust an archive's description of itself.
///
/// The first payload is the archive's name.
public enum ArchivedBackupError: ExplainedError, Equatable {
    /// The manifest contradicts itself or the archive.
    case badManifest(String, reason: String)
    /// A new backup would have a manifest that no version reads; the payload is the number of stores.
    case tooManyStores(Int)
    /// An archive without a manifest would unpack to more than a limit.
    case beyondLimit(String, reason: String, RestoreLimits.Kind)
    /// An archive that an increment is built on holds another state than it did when the increment was made.
    case otherState(String, need: String)
    /// A trusted signature is required, and the opened archive has none.
    case distrusted(String, reason: String)
    /// The archive's format is newer than this program.
    case newerFormat(String, format: Int)

    public var description: String {
        switch self {
        case .badManifest(let name, let reason): "the manifest of '\(name)' is damaged: \(reason)"
        case .tooManyStores(let count):
            "one backup cannot describe \(counted(count, "store", "stores"))"
        case .beyondLimit(let name, let reason, _): "'\(name)' is refused: \(reason)"
        case .otherState(let name, let need):
            "'\(name)' is built on another state of '\(need)'"
        case .distrusted(let name, let reason): "'\(name)' cannot be trusted: \(reason)"
        case .newerFormat(let name, let format):
            "'\(name)' has archive format \(format), which is newer than this program"
        }
    }

    public var hint: String? {
        switch self {
        case .badManifest:
            "restore another backup; 'unzip' may still get single files out of this one"
        case .tooManyStores: "name a directory with fewer with '--stores DIR', in several profiles"
        case .otherState: "restore another backup"
        case .beyondLimit(_, _, let limit):
            "this archive may be hostile; if you know its origin, raise the limit with '--set limits.\(limit)=N'"
        case .distrusted: "somebody may have put another file in its place"
        case .newerFormat: "install a newer version"
        }
    }
}
