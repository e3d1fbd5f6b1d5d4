internal import CFiles
internal import Foundation
internal import SystemPackage

/// A lock that only runs of one user can take: one byte per directory in a file of mode 0600.
///
/// It keeps the user's other runs out even if a stranger has locked the directory itself.
final class OwnLock: Sendable {
    private let file: File
    private let offset: off_t

    enum Attempt {
        case taken(OwnLock)
        /// Another run has the lock.
        case refused
        /// The file does not exist and cannot be created, or it cannot be locked.
        case impossible
    }

    private init(_ file: File, _ offset: off_t) {
        self.file = file
        self.offset = offset
    }

    deinit {
        // Closing alone is not enough, as for `FileLock`.
        _ = cfiles_unlock_byte(file.descriptor, offset)
    }

    /// Tries once to take the lock of a directory.
    static func attempt(in path: FilePath, for directory: FileInfo.Identity) -> Attempt {
        guard let file = open(path) else { return .impossible }
        // Two directories of one device never have the same byte.
        let mixed = directory.inode ^ directory.device &* 0x9E37_79B9_7F4A_7C15
        let offset = off_t(mixed & 0x3FFF_FFFF_FFFF_FFFF)
        if uninterrupted({ cfiles_lock_byte(file.descriptor, offset) }) == 0 {
            return .taken(OwnLock(file, offset))
        }
        return errno == EAGAIN || errno == EACCES ? .refused : .impossible
    }

    /// Opens a file of locks, created if it is missing; `nil` if others may open it, or if it cannot be opened.
    private static func open(_ path: FilePath) -> File? {
        try? LocalFileSystem().createDirectories(path.removingLastComponent())
        guard let file = try? File.openForLocks(path), let info = try? file.info(),
            info.kind == .file, info.owner == geteuid(), info.mode & 0o077 == 0
        else { return nil }
        return file
    }
}
