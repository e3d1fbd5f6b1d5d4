public import Files

/// An error in the form of a remote folder's address, as a person wrote it.
///
/// The payload is the text after `rclone:`, without secrets.
public enum AddressError: ExplainedError, Equatable {
    /// The address names no remote, so that rclone would take it for a local path.
    case noRemote(String)
    /// The text looks like a remote of rclone, but lacks its scheme.
    case meansRclone(String)

    public var outcome: FailureOutcome { .usage }

    public var description: String {
        switch self {
        case .noRemote(""): "'rclone:' names no remote"
        case .noRemote(let place):
            "'rclone:\(place)' names no remote: rclone would take '\(place)' for a local directory"
        case .meansRclone(let place): "there is no directory '\(place)'"
        }
    }

    public var hint: String? {
        switch self {
        case .noRemote(let place) where place.isEmpty || place.hasPrefix(":"):
            "write 'rclone:REMOTE:PATH'; 'rclone listremotes' has the names"
        case .noRemote(let place) where place.hasPrefix("/"):
            "to mean the directory, write '\(place)'; to mean a remote, 'rclone:REMOTE:PATH'"
        case .noRemote(let place):
            "to mean a remote of rclone, write \(Self.forms(place))"
        case .meansRclone(let place): "to mean a remote of rclone, write 'rclone:\(place)'"
        }
    }

    /// Returns the addresses that a person may mean who forgot the colon behind the remote's name.
    private static func forms(_ place: String) -> String {
        let parts = place.split(separator: "/", maxSplits: 1)
        let remote = parts.first.map(String.init) ?? place
        return parts.count > 1
            ? "'rclone:\(remote):\(parts[1])'" : "'rclone:\(remote):' or 'rclone:\(remote):PATH'"
    }
}
