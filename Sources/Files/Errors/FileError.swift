public import SystemPackage

/// An error with a file, a directory or a lock.
///
/// The payload contains its path.
public enum FileError: ExplainedError, Equatable {
    /// A system call failed.
    case failed(Action, FilePath, Errno)
    /// The name exists, but is of another kind than the requested one.
    case notA(Kind, FilePath)
    /// A new file's name is taken.
    case exists(FilePath)
    /// The file ended before the requested byte.
    case endedEarly(FilePath)
    /// The file is longer than the limit for its kind.
    case tooLong(FilePath, limit: Int64)
    /// Another process holds the lock.
    case locked(FilePath, holder: LockHolder?)
    /// A name cannot be a path below a directory; `reason` explains it.
    case unsafeName(String, reason: String)

    /// The attempted action, as the verb of "cannot VERB".
    public enum Action: String, Sendable {
        case open, read, write, create, remove, list, sync, lock
        case inspect = "look at"
        case move = "rename"
        case exchange = "exchange names with"
        case link = "make the link"
        case setAttributes = "set the attributes of"
    }

    /// The kinds of file that callers request.
    public enum Kind: String, Sendable {
        case directory
        case file = "regular file"
    }

    public var description: String {
        switch self {
        case .failed(let action, let path, let errno):
            "cannot \(action.rawValue) '\(printable(path))': \(reason(errno))"
        case .notA(let kind, let path):
            "'\(printable(path))' is not a \(kind.rawValue)"
        case .exists(let path):
            "'\(printable(path))' is there already"
        case .endedEarly(let path):
            "'\(printable(path))' is shorter than expected"
        case .tooLong(let path, let limit):
            "'\(printable(path))' is longer than \(limit) bytes, the limit of such files"
        case .locked(let path, let holder):
            "'\(printable(path))' is in use by \(holder?.description ?? "another run")"
        case .unsafeName(let name, let reason):
            "the name '\(name)' is refused: \(reason)"
        }
    }

    public var hint: String? {
        switch self {
        case .failed(let action, let path, let errno):
            switch errno {
            case .noSpace, .diskQuotaExceeded:
                "free some space where '\(printable(path))' is, and try again"
            case .permissionDenied, .notPermitted:
                path.givenBack.map { "root made it in a directory of yours: \($0)" }
                    ?? "run as the owner of '\(printable(action == .create ? path.removingLastComponent() : path))'"
            case .readOnlyFileSystem: "mount it for writing, or choose a folder somewhere else"
            case .resourceBusy where action == .move, .improperLink where action == .move:
                "unpack with 'grocerydude restore NAME --target DIR', and put it in place by hand"
            case .tooManyOpenFiles, .tooManyOpenFilesInSystem: "raise the limit with 'ulimit -n'"
            case .ioError:
                "look for disk errors with 'dmesg', and copy the data to another disk"
            case .fileTooLarge: "the file system or 'ulimit -f' sets a limit on a file's size"
            default: nil
            }
        case .locked: "wait for it with '--lock-wait 60s'"
        default: nil
        }
    }

    public var outcome: FailureOutcome {
        if case .locked = self { return .locked }
        return isNoSpace ? .noSpace : .failed
    }

    /// Whether there was no space, or the file exceeded a quota or a size limit.
    public var isNoSpace: Bool {
        guard case .failed(_, _, let errno) = self else { return false }
        return [.noSpace, .diskQuotaExceeded, .fileTooLarge].contains(errno)
    }

    /// The reason why a name was refused; the whole message for other errors.
    public var unsafeReason: String {
        guard case .unsafeName(_, let reason) = self else { return description }
        return reason
    }

    /// The system's reason why a file that exists could not be opened or read; `nil` for other errors.
    public var refusal: String? {
        guard case .failed(let action, _, let errno) = self, !isMissing,
            [.open, .read, .inspect].contains(action)
        else { return nil }
        return reason(errno)
    }

    /// Whether a rename is impossible, whatever the directories contain.
    ///
    /// The path is a mount point, the other file system is a different one, or the parent directory may not be changed.
    public var forbidsRename: Bool {
        guard case .failed(_, _, let errno) = self else { return false }
        return [
            .resourceBusy, .improperLink, .permissionDenied, .notPermitted, .readOnlyFileSystem,
        ].contains(errno)
    }

    /// Whether the path does not exist.
    ///
    /// A name that is too long for its file system cannot exist.
    public var isMissing: Bool {
        guard case .failed(let action, let path, let errno) = self else { return false }
        switch errno {
        case .noSuchFileOrDirectory, .notDirectory: return true
        case .fileNameTooLong where [.open, .read, .inspect, .remove].contains(action):
            // The path as a whole may be too long for one call, and still exist.
            let isOfName = (path.lastComponent?.string.utf8.count ?? 0) > FileName.longest
            return isOfName || path.length < Self.longestPath
        default: return false
        }
    }

    /// The length from which the system refuses a path (PATH_MAX).
    private static let longestPath = 4096
}

/// Returns the message for an error number; no other code has such messages.
func reason(_ errno: Errno) -> String {
    switch errno {
    case .noSpace: "no space left on the device"
    case .diskQuotaExceeded: "the disk quota is used up"
    case .permissionDenied: "permission denied"
    case .notPermitted: "operation not permitted"
    case .noSuchFileOrDirectory: "no such file or directory"
    case .readOnlyFileSystem: "the file system is read-only"
    case .tooManyOpenFiles: "too many open files"
    case .ioError: "input/output error, the disk may be failing"
    case .tooManySymbolicLinkLevels: "a symbolic link is where a file is expected"
    case .fileNameTooLong: "the name is too long for this file system"
    case .resourceBusy: "something is mounted there, or uses it"
    case .improperLink: "that leads from one file system to another"
    default: lowercasedFirst(errno.description)
    }
}

private func lowercasedFirst(_ text: String) -> String {
    text.prefix(1).lowercased() + text.dropFirst()
}
