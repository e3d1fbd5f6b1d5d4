public import Files
internal import SystemPackage

/// An error with a remote folder.
///
/// The payload contains its address.
public enum RemoteError: ExplainedError, Equatable {
    /// The folder does not exist.
    case missing(String)
    /// The path is no folder.
    case notAFolder(String)
    /// A link or a file has the name of a subfolder.
    case notASubfolder(String, name: String)
    /// The folder has no such file.
    case noFile(String, name: String)
    /// A file of that name exists already.
    case exists(String, name: String)
    /// The change was made, but a loss of power may undo it, since it may not be synced to the disk.
    case notSynced(String, name: String, FileError)
    /// rclone's configuration has no such remote.
    case noRemote(String)
    /// No connection could be made; the payload has the last reason.
    case unreachable(String, reason: String)
    /// The remote stopped answering: nothing moved for this time.
    case stalled(String, after: Duration)
    /// The remote stopped answering while an uploaded file was to get this name.
    case unsure(String, name: String, reason: String)
    /// The remote rejects the user's name, password or key.
    case unauthorized(String, reason: String)
    /// The folder may be read, but not written.
    case readOnly(String, reason: String)
    /// The remote is full, or a quota is used up.
    case noSpace(String, reason: String)
    /// rclone failed; the reason is its last line.
    case rclone(String, reason: String)
    /// rclone is not installed.
    case noRclone(String)

    public var outcome: FailureOutcome {
        switch self {
        case .missing, .notAFolder, .noFile, .noRemote: .notFound
        case .unauthorized: .password
        case .noSpace: .noSpace
        case .notSynced: .partial
        case .exists, .notASubfolder, .rclone, .noRclone, .unreachable, .stalled, .unsure,
            .readOnly:
            .failed
        }
    }

    public var description: String {
        switch self {
        case .missing(let address): "there is no remote folder '\(address)'"
        case .notAFolder(let address): "the remote folder '\(address)' is not a directory"
        case .notASubfolder(let address, let name):
            "'\(name)' in '\(address)' is not a directory, but a link or a file; it is left alone"
        case .noFile(let address, let name): "there is no '\(name)' in '\(address)'"
        case .exists(let address, let name): "there is a '\(name)' in '\(address)' already"
        case .notSynced(let address, let name, let error):
            "the change of '\(name)' in '\(address)' may be lost in a power failure: \(error)"
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
        // A name with control characters is shown with escapes, which a shell would not take for it.
        case .missing(let address) where address.contains("\\"):
            "mount its disk; if it is a new folder, make the directory"
        case .missing(let address)
        where (try? FileInfo.ifPresent(FilePath(address)))??.kind == .link:
            "mount its disk: the link '\(address)' leads nowhere"
        case .missing(let address) where !RemoteAddress(address).isOfRclone:
            "mount its disk, or name its new place; if it is a new folder, make it with: mkdir -p \(shellWord(address))"
        case .missing(let address):
            "make it with: rclone mkdir \(shellWord(RemoteAddress(address).place))"
        case .rclone, .noRemote: "see 'rclone listremotes' and 'rclone config'"
        case .unreachable, .stalled:
            "make sure that the network and the server work, then try again; the next backup removes partial uploads"
        case .unauthorized(let address, _):
            "see 'rclone config'; for an account that was linked, run: rclone config reconnect \(shellWord(Self.remote(address)))"
        case .unsure: "look there once it answers again"
        case .readOnly:
            "check the account's permissions and its free space, or name another folder"
        case .noSpace(let address, _):
            "see what is used with: rclone about \(shellWord(Self.remote(address)))"
        case .notAFolder: "name a directory with '--remote'"
        case .notASubfolder(let address, let name):
            "see what it is, and move it away: \(moveAway(FilePath("\(address)/\(name)")))"
        case .noRclone: "install it with: apt-get install rclone"
        case .notSynced:
            "see what is on the disk with 'grocerydude list', and its errors with 'dmesg'"
        case .noFile: "\(Advice.list) to see what is there"
        case .exists: nil
        }
    }

    /// Whether it only explains a failed transfer.
    public var isOfTransfer: Bool {
        switch self {
        case .unreachable, .stalled, .readOnly, .noSpace, .rclone: true
        default: false
        }
    }

    /// Whether the remote did not answer, so that another request would take as long.
    package var isOfConnection: Bool {
        switch self {
        case .unreachable, .stalled, .unsure, .noRclone, .noRemote, .unauthorized: true
        default: false
        }
    }

    /// Returns rclone's name of the remote of a folder: `remote:`.
    private static func remote(_ address: String) -> String {
        let place = RemoteAddress(address).place
        return place.lastIndex(of: ":").map { String(place[...$0]) } ?? place
    }
}
