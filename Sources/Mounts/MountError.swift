public import Files
public import SystemPackage

/// Why a file system cannot be mounted; nothing was mounted.
public enum MountError: ExplainedError, Equatable {
    /// libfuse 3 is not installed, or cannot be used.
    case noLibrary(reason: String)
    /// The kernel's device is missing, or may not be opened.
    case noDevice(FileError)
    /// There is no directory to mount in.
    case noDirectory(FilePath)
    /// Something is mounted there already.
    case mounted(FilePath)
    /// The program that served what is mounted there has ended.
    case abandoned(FilePath)
    /// There is something in the directory, which nobody could see behind what is mounted.
    case notEmpty(FilePath)
    /// The directory is in another one that has other tasks.
    case inside(FilePath, of: FilePath)
    /// The system refused; the reason is libfuse's, if it gave one.
    case refused(FilePath, reason: String)
    /// The kernel's requests can no longer be read; it is no longer mounted.
    case lost(FilePath, Errno)

    #if os(Linux)
    private static let library: String? =
        "install libfuse 3: its package is 'fuse3' on Debian, Ubuntu and Fedora"
    #else
    // None is known that does.
    private static let library: String? = nil
    #endif

    /// The kernel's device.
    static let device: FilePath = "/dev/fuse"

    public var description: String {
        switch self {
        case .noLibrary(let reason): "cannot mount: libfuse 3 cannot be loaded: \(reason)"
        case .noDevice(let error): "cannot mount: \(error)"
        case .noDirectory(let path): "there is no directory '\(printable(path))'"
        case .mounted(let path): "something is mounted at '\(printable(path))' already"
        case .abandoned(let path):
            "a file system is mounted at '\(printable(path))' whose program has ended"
        case .notEmpty(let path): "the directory '\(printable(path))' is not empty"
        case .inside(let path, let other) where path == other:
            "'\(printable(path))' has other tasks: it is the stores directory, or a folder of backups"
        case .inside(let path, let other):
            "'\(printable(path))' is inside '\(printable(other))', and would be taken for a part of it"
        case .refused(let path, let reason):
            "cannot mount at '\(printable(path))': \(reason.isEmpty ? "it was refused" : reason)"
        case .lost(let path, let errno):
            "'\(printable(path))' is no longer mounted: the kernel cannot be read from: \(errno)"
        }
    }

    public var hint: String? {
        switch self {
        case .noLibrary: Self.library
        case .noDevice(.failed(_, _, .permissionDenied)), .noDevice(.failed(_, _, .notPermitted)):
            "run as root, or allow users to open '\(Self.device)'"
        case .noDevice:
            "load the kernel's module with 'modprobe fuse'; a container has to be given '\(Self.device)'"
        case .noDirectory(let path): "make it with 'mkdir -p '\(printable(path))''"
        case .mounted: "choose another directory, or end that one"
        case .abandoned(let path): "unmount it with 'fusermount3 -u '\(printable(path))''"
        case .notEmpty, .inside: "choose an empty directory somewhere else"
        case .refused:
            "users other than root need 'fusermount3', of the package 'fuse3'; a container needs the right to mount"
        case .lost: nil
        }
    }
}
