public import Files
public import SystemPackage

/// An error that keeps a file system from being mounted.
public enum MountError: ExplainedError, Equatable {
    /// libfuse 3 is not installed, or cannot be used.
    case noLibrary(reason: String)
    /// The kernel's device is missing, or may not be opened.
    case noDevice(FileError)
    /// The directory for the mount is missing.
    case noDirectory(FilePath)
    /// Something is mounted in the directory already.
    case mounted(FilePath)
    /// The program that served the existing mount has ended.
    case abandoned(FilePath)
    /// The directory is not empty, and the mount would hide its content.
    case notEmpty(FilePath)
    /// The directory is inside another one that has a different purpose.
    case inside(FilePath, of: FilePath)
    /// The system refused the mount; the reason is libfuse's, if it gave one.
    case refused(FilePath, reason: String)
    /// The kernel's requests can no longer be read; the tree was unmounted.
    case lost(FilePath, Errno)

    #if os(Linux)
    private static let library: String? =
        "install libfuse 3: its package is 'fuse3' on Debian, Ubuntu and Fedora"
    #else
    // No such library is known for this system.
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
            "cannot mount at '\(printable(path))': it is the stores directory, or a folder of backups"
        case .inside(let path, let other):
            "cannot mount at '\(printable(path))': it is inside '\(printable(other))', and would count as a part of it"
        case .refused(let path, let reason):
            "cannot mount at '\(printable(path))': \(reason.isEmpty ? "it was refused" : reason)"
        case .lost(let path, let errno):
            "'\(printable(path))' is no longer mounted: reading from the kernel failed: \(errno)"
        }
    }

    public var hint: String? {
        switch self {
        case .noLibrary: Self.library
        case .noDevice(.failed(_, _, .permissionDenied)), .noDevice(.failed(_, _, .notPermitted)):
            "run as root, or allow users to open '\(Self.device)'"
        case .noDevice:
            "load the kernel's module with 'modprobe fuse'; a container needs access to '\(Self.device)'"
        case .noDirectory(let path): "make it with \(Advice.quoted("mkdir -p \(shellWord(path))"))"
        case .mounted: "choose another directory, or unmount that one"
        case .abandoned(let path):
            "unmount it with \(Advice.quoted("fusermount3 -u \(shellWord(path))"))"
        case .notEmpty, .inside: "choose an empty directory somewhere else"
        case .refused:
            "users other than root need 'fusermount3', of the package 'fuse3'; a container needs the right to mount"
        case .lost: nil
        }
    }
}
