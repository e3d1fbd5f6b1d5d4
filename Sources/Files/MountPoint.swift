internal import CFiles
internal import Foundation
public import SystemPackage

extension FilePath {
    /// Returns whether something is mounted here: a file system, or another directory of the same one.
    ///
    /// Such a directory can neither be renamed nor be exchanged with another.
    ///
    /// - Throws: `FileError` if the path does not exist.
    public func isMountPoint() throws -> Bool {
        let status = withPlatformString { cfiles_is_mount_point(AT_FDCWD, $0) }
        if status >= 0 { return status == 1 }
        guard errno == ENOSYS else { throw lastError(.inspect, self) }
        // An older system does not report a directory that is mounted from the same file system. A rename of it fails
        // then.
        let info = try FileInfo(of: self)
        let above = try FileInfo(of: appending(".."))
        return info.identity.device != above.identity.device || info.identity == above.identity
    }

    /// Whether names in this directory may be listed and changed, according to permissions and the file system
    /// (faccessat(2)).
    public var allowsChanges: Bool {
        withPlatformString { faccessat(AT_FDCWD, $0, R_OK | W_OK | X_OK, AT_EACCESS) } == 0
    }

    /// Whether this directory may get another parent, if both parents allow that.
    ///
    /// Its entry `..` changes then (rename(2)); its owner may give it the permission for that.
    public var allowsMove: Bool {
        allowsChanges || (try? FileInfo(of: self))?.owner == geteuid()
    }

    /// Whether this file may be read and written, according to permissions and the file system.
    public var allowsWriting: Bool {
        withPlatformString { faccessat(AT_FDCWD, $0, R_OK | W_OK, AT_EACCESS) } == 0
    }
}

extension Directory {
    /// Returns whether something is mounted at a name in this directory; see `FilePath.isMountPoint()`.
    ///
    /// - Throws: `FileError` if the name does not exist.
    public func isMountPoint(_ name: FileName) throws -> Bool {
        let status = name.withCString { cfiles_is_mount_point(descriptor, $0) }
        if status >= 0 { return status == 1 }
        guard errno == ENOSYS else { throw lastError(.inspect, path(of: name)) }
        return try info(name).identity.device != info().identity.device
    }
}
