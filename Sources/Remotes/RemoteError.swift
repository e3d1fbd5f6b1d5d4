public import Files

/// An error with a remote folder; the payload names it by its address.
public enum RemoteError: ExplainedError, Equatable {
    /// There is no such folder.
    case missing(String)
    /// It is not a folder.
    case notAFolder(String)
    /// A link to somewhere else, or a file, is in the place of a subfolder.
    case notASubfolder(String, name: String)
    /// There is no such file in it.
    case noFile(String, name: String)
    /// A file of that name is in it already.
    case exists(String, name: String)
    /// It was done, but is not known to be on the disk: a loss of power may undo it.
    case notSynced(String, name: String, FileError)
    /// rclone failed; the reason is its own last line.
    case rclone(String, reason: String)
    /// rclone is not installed.
    case noRclone(String)

    public var description: String {
        switch self {
        case .missing(let address): "there is no remote folder '\(address)'"
        case .notAFolder(let address): "the remote folder '\(address)' is not a directory"
        case .notASubfolder(let address, let name):
            "'\(name)' in '\(address)' is not a directory, but a link or a file; it is left alone"
        case .noFile(let address, let name): "there is no '\(name)' in '\(address)'"
        case .exists(let address, let name): "there is a '\(name)' in '\(address)' already"
        case .notSynced(let address, let name, let error):
            "the change of '\(name)' in '\(address)' may not outlast a loss of power: \(error)"
        case .rclone(let address, let reason): "rclone cannot reach '\(address)': \(reason)"
        case .noRclone(let address): "cannot reach '\(address)': rclone is not installed"
        }
    }

    public var hint: String? {
        switch self {
        case .missing(let address) where !address.hasPrefix("rclone:"):
            "if its disk is mounted, make it with: mkdir -p '\(address)'"
        case .missing, .rclone: "see 'rclone listremotes' and 'rclone config'"
        case .notAFolder: "name a directory"
        case .notASubfolder(let address, let name):
            "see what it is, and move it away: mv '\(address)/\(name)' '\(address)/\(name).mine'"
        case .noRclone: "install it with: apt-get install rclone"
        case .notSynced: "see what is on the disk; for its errors run 'dmesg'"
        case .noFile, .exists: nil
        }
    }
}
