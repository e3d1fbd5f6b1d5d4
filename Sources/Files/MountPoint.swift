internal import CFiles
public import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

extension FilePath {
    /// Whether something is mounted here: a file system, or another directory of the same one.
    ///
    /// Such a directory cannot be renamed, nor exchanged with another.
    ///
    /// - Throws: `FileError` if there is nothing.
    public func isMountPoint() throws -> Bool {
        let status = withPlatformString { cfiles_is_mount_point(AT_FDCWD, $0) }
        if status >= 0 { return status == 1 }
        guard errno == ENOSYS else { throw lastError(.inspect, self) }
        // An older system does not tell of a directory that is mounted from the same file system;
        // a rename of it then fails.
        let info = try FileInfo(of: self)
        let above = try FileInfo(of: appending(".."))
        return info.identity.device != above.identity.device || info.identity == above.identity
    }

    /// Whether names in this directory may be listed and changed, as far as permissions and the
    /// file system say (faccessat(2)).
    public var allowsChanges: Bool {
        withPlatformString { faccessat(AT_FDCWD, $0, R_OK | W_OK | X_OK, AT_EACCESS) } == 0
    }

    /// Whether this file may be read and written, as far as permissions and the file system say.
    public var allowsWriting: Bool {
        withPlatformString { faccessat(AT_FDCWD, $0, R_OK | W_OK, AT_EACCESS) } == 0
    }
}

extension Directory {
    /// Whether something is mounted at a name in this directory; see `FilePath.isMountPoint()`.
    ///
    /// - Throws: `FileError` if there is nothing.
    public func isMountPoint(_ name: FileName) throws -> Bool {
        let status = name.withCString { cfiles_is_mount_point(descriptor, $0) }
        if status >= 0 { return status == 1 }
        guard errno == ENOSYS else { throw lastError(.inspect, path(of: name)) }
        return try info(name).identity.device != info().identity.device
    }
}
