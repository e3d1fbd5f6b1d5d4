internal import CFiles
internal import Foundation
public import SystemPackage

/// The system's record of a file (stat(2)), without following a symbolic link.
public struct FileInfo: Sendable, Equatable {
    /// The kinds of file.
    public enum Kind: Sendable, Equatable {
        case file, directory, link
        /// A socket, a pipe or a device; the text is for a message.
        case special(String)
    }

    /// The device and the inode.
    ///
    /// A name keeps its identity until the file is replaced.
    public struct Identity: Hashable, Sendable, Codable {
        public let device: UInt64
        public let inode: UInt64

        public init(device: UInt64, inode: UInt64) {
            self.device = device
            self.inode = inode
        }
    }

    public let kind: Kind
    public let identity: Identity
    /// The permission bits with set-user-id, set-group-id and sticky: 0 to 0o7777.
    public let mode: UInt16
    public let owner: UInt32
    public let group: UInt32
    /// The size in bytes.
    public let size: Int64
    /// The disk space in bytes; less than the size if the file has holes.
    ///
    /// It may change without any other change, and is ignored in comparisons.
    public let allocated: Int64
    /// The modification time in nanoseconds since 1970-01-01 UTC.
    public let modified: Int64
    /// The time of the inode's last change, in nanoseconds since 1970-01-01 UTC.
    public let changed: Int64

    init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .directory
        case S_IFLNK: kind = .link
        case S_IFSOCK: kind = .special("a socket")
        case S_IFIFO: kind = .special("a named pipe")
        default: kind = .special("a device")
        }
        identity = Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(status.st_ino)
        )
        mode = UInt16(truncatingIfNeeded: status.st_mode & 0o7777)
        owner = status.st_uid
        group = status.st_gid
        size = Int64(status.st_size)
        allocated = Int64(status.st_blocks) * 512
        #if canImport(Darwin)
        modified = nanoseconds(status.st_mtimespec)
        changed = nanoseconds(status.st_ctimespec)
        #else
        modified = nanoseconds(status.st_mtim)
        changed = nanoseconds(status.st_ctim)
        #endif
    }
}

extension FileInfo {
    public static func == (one: FileInfo, other: FileInfo) -> Bool {
        one.kind == other.kind && one.identity == other.identity && one.mode == other.mode
            && one.owner == other.owner && one.group == other.group && one.size == other.size
            && one.modified == other.modified && one.changed == other.changed
    }

    /// Returns the creation time of a file in nanoseconds since 1970-01-01 UTC; `nil` if the file system has none.
    ///
    /// If an inode is reused, the time distinguishes the new file from the old one.
    ///
    /// - Throws: `FileError`.
    public static func birth(of path: FilePath) throws -> Int64? {
        let time = try systemCall(.inspect, path) { path.withPlatformString(cfiles_birth_time) }
        return time == 0 ? nil : time
    }
}

private func nanoseconds(_ time: timespec) -> Int64 {
    // A wrong clock must not cause a trap, so a time after the year 2262 becomes the last possible one.
    let (seconds, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return time.tv_sec < 0 ? .min : .max }
    let (sum, carried) = seconds.addingReportingOverflow(Int64(time.tv_nsec))
    return carried ? .max : sum
}
