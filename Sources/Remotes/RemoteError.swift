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
    /// rclone's configuration has no such remote.
    case noRemote(String)
    /// No connection to it could be made; the last reason.
    case unreachable(String, reason: String)
    /// It stopped answering: nothing moved for so long.
    case stalled(String, after: Duration)
    /// It stopped answering when a file that it has was to get this name.
    case unsure(String, name: String, reason: String)
    /// It does not take the user's name, password or key.
    case unauthorized(String, reason: String)
    /// It may be read, but not written.
    case readOnly(String, reason: String)
    /// It is full, or a quota is used up.
    case noSpace(String, reason: String)
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
        case .noRemote(let address):
            "there is no remote folder '\(address)': rclone's configuration has no such remote"
        case .unreachable(let address, let reason):
            "there is no connection to '\(address)': \(reason)"
        case .stalled(let address, let duration):
            "'\(address)' has stopped answering: nothing has moved for \(duration.components.seconds) s"
        case .unsure(let address, let name, let reason):
            "it is not known whether '\(name)' is in '\(address)' now: \(reason)"
        case .unauthorized(let address, let reason):
            "'\(address)' does not accept the name, password or key: \(reason)"
        case .readOnly(let address, let reason):
            "the remote folder '\(address)' may not be written: \(reason)"
        case .noSpace(let address, let reason):
            "there is no space left in '\(address)': \(reason)"
        case .rclone(let address, let reason): "rclone cannot reach '\(address)': \(reason)"
        case .noRclone(let address): "cannot reach '\(address)': rclone is not installed"
        }
    }

    public var hint: String? {
        switch self {
        case .missing(let address) where !address.hasPrefix("rclone:"):
            "if its disk is mounted, make it with: mkdir -p '\(address)'"
        case .missing(let address):
            "make it with: rclone mkdir '\(Self.place(address))'"
        case .rclone, .noRemote: "see 'rclone listremotes' and 'rclone config'"
        case .unreachable, .stalled:
            "see that the network and the server work, then try again; the next backup removes what was uploaded in part"
        case .unauthorized(let address, _):
            "see 'rclone config'; for an account that was linked, run: rclone config reconnect '\(Self.remote(address))'"
        case .unsure: "see what is there once it answers again"
        case .readOnly:
            "see the permissions of the account, and the space that is left there, or name another folder"
        case .noSpace(let address, _):
            "see what is used with: rclone about '\(Self.remote(address))'"
        case .notAFolder: "name a directory"
        case .notASubfolder(let address, let name):
            "see what it is, and move it away: mv '\(address)/\(name)' '\(address)/\(name).mine'"
        case .noRclone: "install it with: apt-get install rclone"
        case .notSynced: "see what is on the disk; for its errors run 'dmesg'"
        case .noFile, .exists: nil
        }
    }

    /// Whether it says only why a file did not come or go.
    public var isOfTransfer: Bool {
        switch self {
        case .unreachable, .stalled, .readOnly, .noSpace, .rclone: true
        default: false
        }
    }

    /// Whether the remote did not answer: another question would take as long.
    package var isOfConnection: Bool {
        switch self {
        case .unreachable, .stalled, .unsure, .noRclone, .noRemote, .unauthorized: true
        default: false
        }
    }

    /// rclone's name of a folder: `remote:path`.
    private static func place(_ address: String) -> String {
        String(address.dropFirst(RcloneFolder.scheme.count))
    }

    /// rclone's name of the remote that a folder is on: `remote:`.
    private static func remote(_ address: String) -> String {
        let place = place(address)
        return place.lastIndex(of: ":").map { String(place[...$0]) } ?? place
    }
}
