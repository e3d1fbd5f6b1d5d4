internal import CFiles
internal import Foundation
public import SystemPackage

/// An open directory.
///
/// Names are reached one step at a time, and never through a symbolic link.
///
/// So nothing that another process or an archive creates leads out of the directory. Besides, a path may exceed the
/// system's limit. It is a class, so that threads can share it; the descriptor is closed with the last reference.
public final class Directory: Sendable {
    /// The path it was opened by, for messages.
    public let path: FilePath
    let descriptor: CInt

    private init(adopting descriptor: CInt, path: FilePath) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// Opens a directory by its path, following symbolic links.
    public static func open(_ path: FilePath) throws -> Directory {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        do {
            let descriptor = try systemCall(.open, path) {
                path.withPlatformString { cfiles_openat(AT_FDCWD, $0, flags, 0) }
            }
            return Directory(adopting: descriptor, path: path)
        } catch FileError.failed(_, _, .notDirectory) {
            throw FileError.notA(.directory, path)
        }
    }

    /// Opens a directory in this one.
    public func directory(_ name: FileName) throws -> Directory {
        let descriptor = try openAt(name, O_RDONLY | O_DIRECTORY, .open)
        return Directory(adopting: descriptor, path: path(of: name))
    }

    /// Opens a regular file in this one for reading.
    ///
    /// - Throws: `FileError.notA` if it is something else now.
    public func file(_ name: FileName) throws -> File {
        try fileAndInfo(name).file
    }

    /// Opens a regular file in this one for reading, and returns the system's record of it too.
    ///
    /// - Throws: `FileError.notA` if it is something else now.
    public func fileAndInfo(_ name: FileName) throws -> (file: File, info: FileInfo) {
        let file = try fileOfAnyKind(name)
        let info = try file.info()
        guard info.kind == .file else { throw FileError.notA(.file, file.path) }
        return (file, info)
    }

    /// Opens a name of any kind in this one for reading; the caller checks the kind.
    public func fileOfAnyKind(_ name: FileName) throws -> File {
        // Without O_NONBLOCK, a named pipe with that name would wait for its writer.
        let descriptor = try openAt(name, O_RDONLY | O_NONBLOCK, .open)
        return File(adopting: descriptor, name: name, in: self)
    }

    /// Creates a new regular file, mode 0600 whatever the umask, and opens it for writing.
    ///
    /// - Throws: `FileError.exists` if the name is taken, even by a symbolic link.
    public func createFile(_ name: FileName) throws -> File {
        let descriptor = try openAt(name, O_RDWR | O_CREAT | O_EXCL, .create)
        return File(adopting: descriptor, name: name, in: self)
    }

    /// Creates a directory, mode 0700 whatever the umask.
    ///
    /// - Throws: `FileError.exists` if the name is taken.
    public func createDirectory(_ name: FileName) throws {
        try call(.create, name) { mkdirat(descriptor, $0, 0o700) }
    }

    /// Creates a symbolic link, whose target may be any bytes but NUL.
    ///
    /// - Throws: `FileError.exists` if the name is taken.
    public func createLink(_ name: FileName, target: [UInt8]) throws {
        let target = target.map { CChar(bitPattern: $0) } + [0]
        try call(.link, name) { symlinkat(target, descriptor, $0) }
    }

    /// Returns the target of a symbolic link.
    public func linkTarget(_ name: FileName) throws -> [UInt8] {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try call(.read, name) { readlinkat(descriptor, $0, &buffer, Int(PATH_MAX)) }
        return buffer.prefix(count).map { UInt8(bitPattern: $0) }
    }

    /// Returns the system's record of the directory itself.
    public func info() throws -> FileInfo {
        var status = stat()
        try systemCall(.inspect, path) { fstat(descriptor, &status) }
        return FileInfo(status)
    }

    /// Returns the system's record of a name, without following a symbolic link.
    public func info(_ name: FileName) throws -> FileInfo {
        var status = stat()
        try call(.inspect, name) { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }
        return FileInfo(status)
    }

    /// Returns whether the directory contains the name.
    public func contains(_ name: FileName) -> Bool {
        (try? info(name)) != nil
    }

    /// Returns all names except `.` and `..`, sorted by their bytes, so that equal trees give equal archives.
    public func names() throws -> [FileName] {
        // readdir(3) owns its descriptor and moves the offset, so it gets a descriptor of its own.
        let copy = try systemCall(.list, path) {
            cfiles_openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        }
        guard let stream = fdopendir(copy) else {
            defer { close(copy) }
            throw lastError(.list, path)
        }
        defer { closedir(stream) }
        var names: [FileName] = []
        errno = 0
        while let entry = readdir(stream) {
            let bytes = withUnsafePointer(to: &entry.pointee.d_name) { field in
                let start = UnsafeRawPointer(field)
                let length = strlen(start.assumingMemoryBound(to: CChar.self))
                return Array(UnsafeRawBufferPointer(start: start, count: length))
            }
            if bytes != [0x2E] && bytes != [0x2E, 0x2E] {
                names.append(FileName(unchecked: bytes))
            }
            errno = 0
        }
        guard errno == 0 else { throw lastError(.list, path) }
        return names.sorted()
    }

    /// Sets the permission bits and the modification time of a name in this directory.
    ///
    /// The permission bits of a symbolic link are not set, since it has none.
    public func setAttributes(of name: FileName, isLink: Bool, mode: UInt16, modified: Int64) throws
    {
        if !isLink {
            try call(.setAttributes, name) { fchmodat(descriptor, $0, mode_t(mode), 0) }
        }
        try call(.setAttributes, name) { cfiles_set_modification_time(descriptor, $0, modified) }
    }

    /// Sets the owner and the group of a name, without following a symbolic link; only root may.
    public func setOwner(of name: FileName, owner: UInt32, group: UInt32) throws {
        try call(.setAttributes, name) {
            fchownat(descriptor, $0, owner, group, AT_SYMLINK_NOFOLLOW)
        }
    }

    /// Sets the permission bits of the directory itself (0 to 0o7777), ignoring the umask.
    public func setMode(_ mode: UInt16) throws {
        try systemCall(.setAttributes, path) { fchmod(descriptor, mode_t(mode)) }
    }

    /// Sets the permission bits and the modification time of the directory itself.
    public func setAttributes(mode: UInt16, modified: Int64) throws {
        try setMode(mode)
        try systemCall(.setAttributes, path) {
            cfiles_set_descriptor_modification_time(descriptor, modified)
        }
    }

    /// Sets the owner and the group of the directory itself; only root may.
    public func setOwner(_ owner: UInt32, group: UInt32) throws {
        try systemCall(.setAttributes, path) { fchown(descriptor, owner, group) }
    }

    /// Flushes the directory's entries to the disk.
    public func sync() throws {
        try systemCall(.sync, path) { cfiles_sync(descriptor) }
    }

    /// Whether the system has a call that flushes a whole file system synchronously.
    public static var canSyncFileSystem: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// Flushes everything written to the file system of the directory (syncfs(2)).
    ///
    /// - Throws: `FileError`, also for a failure of an earlier write.
    public func syncFileSystem() throws {
        try systemCall(.sync, path) { cfiles_sync_file_system(descriptor) }
    }

    /// Returns the free space of the file system in bytes.
    public func availableSpace() throws -> Int64 {
        try systemCall(.inspect, path) { cfiles_available_space(descriptor) }
    }

    /// Opens the directory at a path below this one, without following any symbolic link.
    ///
    /// - Parameters:
    ///   - path: the path; `nil` for the directory itself.
    ///   - missing: called with a directory and a missing name, which it may create; returns whether it did.
    /// - Returns: the directory; `nil` if it does not exist.
    /// - Throws: `FileError` if a component is no directory; what `missing` throws.
    public func descend(
        to path: RelativePath?,
        making missing: (Directory, FileName) throws -> Bool = { _, _ in false }
    ) throws -> Directory? {
        var directory = self
        for name in path?.components ?? [] {
            if !directory.contains(name), try !missing(directory, name) { return nil }
            switch try directory.info(name).kind {
            case .directory: directory = try directory.directory(name)
            case .link:
                throw FileError.failed(
                    .open,
                    directory.path(of: name),
                    .tooManySymbolicLinkLevels
                )
            case .file, .special: throw FileError.notA(.directory, directory.path(of: name))
            }
        }
        return directory
    }

    /// Moves a name in this directory into another directory, and never replaces anything.
    ///
    /// - Throws: `FileError.exists` if the name is taken there.
    public func move(_ name: FileName, to target: Directory) throws {
        func call(_ body: (UnsafePointer<CChar>) -> CInt) -> CInt {
            uninterrupted { name.withCString(body) }
        }
        if call({ cfiles_rename_exclusive(descriptor, $0, target.descriptor, $0) }) == 0 { return }
        // The fallback for file systems without an exclusive rename, as in LocalFileSystem.move.
        if [EINVAL, ENOSYS, ENOTSUP].contains(errno), !target.contains(name),
            call({ renameat(descriptor, $0, target.descriptor, $0) }) == 0
        {
            return
        }
        if errno == EEXIST || target.contains(name) {
            throw FileError.exists(target.path(of: name))
        }
        throw lastError(.move, path(of: name))
    }

    /// Removes a name that is not a directory.
    public func removeFile(_ name: FileName) throws {
        try call(.remove, name) { unlinkat(descriptor, $0, 0) }
    }

    /// Removes an empty directory.
    public func removeDirectory(_ name: FileName) throws {
        try call(.remove, name) { unlinkat(descriptor, $0, AT_REMOVEDIR) }
    }

    /// Returns the path of a name in this directory, for messages.
    public func path(of name: FileName) -> FilePath {
        RelativePath(name: name).below(path)
    }

    private func openAt(
        _ name: FileName,
        _ flags: CInt,
        _ action: FileError.Action
    ) throws -> CInt {
        try call(action, name) {
            cfiles_openat(descriptor, $0, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
    }

    @discardableResult
    private func call<Status: SignedInteger>(
        _ action: FileError.Action,
        _ name: FileName,
        _ call: (UnsafePointer<CChar>) -> Status
    ) throws -> Status {
        try systemCall(action, path(of: name)) { name.withCString(call) }
    }
}
