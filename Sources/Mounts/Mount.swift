internal import CFuse
internal import Files
internal import Foundation
public import SystemPackage

/// A tree that is mounted in a directory, read-only, until `serve` ends.
///
/// libfuse is loaded when the first mount is created (dlopen(3)), so the build needs neither the library nor its
/// headers.
public final class Mount {
    /// The interval in milliseconds at which `serve` checks whether to end.
    private static let step: Int32 = 200

    private let session: OpaquePointer
    private let server: Server
    private let path: FilePath
    private var isEnded = false

    /// Throws unless file systems can be mounted here, as far as that is known in advance.
    ///
    /// - Throws: `MountError.noLibrary`, `.noDevice`.
    public static func check() throws {
        if let reason = cfuse_load() { throw MountError.noLibrary(reason: String(cString: reason)) }
        do {
            try FileDescriptor.open(MountError.device, .readWrite).close()
        } catch let error as Errno {
            throw MountError.noDevice(.failed(.open, MountError.device, error))
        }
    }

    /// Throws unless a tree can be mounted in a directory.
    ///
    /// - Throws: `MountError.abandoned`, `.mounted`, `.notEmpty`; `FileError` if it is missing or no directory.
    public static func check(_ path: FilePath) throws {
        do {
            guard try !path.isMountPoint() else { throw MountError.mounted(path) }
            guard try Directory.open(path).names().isEmpty else { throw MountError.notEmpty(path) }
        } catch FileError.failed(_, _, .socketNotConnected) {
            throw MountError.abandoned(path)
        }
    }

    /// Mounts a tree.
    ///
    /// - Parameters:
    ///   - tree: the tree.
    ///   - path: an empty directory.
    ///   - allowingOthers: whether other users may access it, as far as the modes allow; otherwise only this user may.
    /// - Throws: `MountError`; see `check`.
    public init(_ tree: any MountedTree, at path: FilePath, allowingOthers: Bool) throws {
        try Self.check()
        try Self.check(path)
        var options = [
            "ro", "nosuid", "nodev", "default_permissions", "fsname=grocerydude",
            "subtype=grocerydude",
        ]
        if allowingOthers { options.append("allow_other") }
        self.path = path
        server = Server(tree)
        let session = cfuse_open(
            options.joined(separator: ","),
            Server.calls,
            Unmanaged.passUnretained(server).toOpaque()
        )
        guard let session else {
            server.finish()
            throw MountError.refused(path, reason: Self.reason)
        }
        self.session = session
        guard path.withPlatformString({ cfuse_mount(session, $0) }) == 0 else {
            end()
            throw MountError.refused(path, reason: Self.reason)
        }
    }

    deinit { end() }

    /// Answers the kernel's requests until the tree is unmounted or the closure returns `true`; then unmounts the tree.
    ///
    /// It blocks its thread, which must not be a task's: see `WorkThread.run`.
    ///
    /// - Parameter isToEnd: returns whether to end; called often.
    /// - Throws: `MountError.lost`.
    public func serve(until isToEnd: () -> Bool) throws {
        defer { end() }
        while !isToEnd() {
            switch cfuse_step(session, Self.step) {
            case 0: return
            case 1: continue
            default: throw MountError.lost(path, Errno(rawValue: errno))
            }
        }
    }

    /// Unmounts the tree after answering all pending requests.
    private func end() {
        guard !isEnded else { return }
        isEnded = true
        server.finish()
        cfuse_unmount(session)
        cfuse_close(session)
    }

    /// libfuse's last message in the form of this program's messages.
    private static var reason: String {
        let text = String(cString: cfuse_said())
        let reason = text.hasPrefix("fuse: ") ? String(text.dropFirst("fuse: ".count)) : text
        return printable(bytes: reason.utf8)
    }
}
