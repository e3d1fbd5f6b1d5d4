internal import CFiles
public import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// An open directory, whose names are reached one step at a time and never through a symbolic
/// link: what another process, or an archive, puts in the way cannot lead out of it, and a path
/// may be longer than the system takes at once.
///
/// A class, so that threads can share one; the descriptor is closed with the last reference.
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
        let descriptor = uninterrupted {
            path.withPlatformString { cfiles_openat(AT_FDCWD, $0, flags, 0) }
        }
        guard descriptor != -1 else {
            let errno = Errno(rawValue: errno)
            throw errno == .notDirectory
                ? FileError.notA(.directory, path) : FileError.failed(.open, path, errno)
        }
        return Directory(adopting: descriptor, path: path)
    }

    /// Opens a directory in this one.
    public func directory(_ name: FileName) throws -> Directory {
        let descriptor = openAt(name, O_RDONLY | O_DIRECTORY)
        guard descriptor != -1 else { throw failure(.open, name) }
        return Directory(adopting: descriptor, path: path(of: name))
    }

    /// Opens a regular file in this one for reading.
    ///
    /// - Throws: `FileError.notA` if it is something else by now.
    public func file(_ name: FileName) throws -> File {
        // Without O_NONBLOCK, a named pipe with that name would wait for its writer.
        let descriptor = openAt(name, O_RDONLY | O_NONBLOCK)
        guard descriptor != -1 else { throw failure(.open, name) }
        let file = File(adopting: descriptor, path: path(of: name))
        guard try file.info().kind == .file else { throw FileError.notA(.file, file.path) }
        return file
    }

    /// Creates a new regular file, mode 0600 whatever the umask, and opens it for writing.
    ///
    /// - Throws: `FileError.exists` if the name is taken, be it by a symbolic link.
    public func createFile(_ name: FileName) throws -> File {
        let descriptor = openAt(name, O_RDWR | O_CREAT | O_EXCL)
        guard descriptor != -1 else { throw failure(.create, name) }
        return File(adopting: descriptor, path: path(of: name))
    }

    /// Creates a directory, mode 0700 whatever the umask.
    ///
    /// - Throws: `FileError.exists` if the name is taken.
    public func createDirectory(_ name: FileName) throws {
        guard uninterrupted({ name.withCString { mkdirat(descriptor, $0, 0o700) } }) == 0 else {
            throw failure(.create, name)
        }
    }

    /// Creates a symbolic link, whose target may be any bytes but NUL.
    ///
    /// - Throws: `FileError.exists` if the name is taken.
    public func createLink(_ name: FileName, target: [UInt8]) throws {
        let target = target.map { CChar(bitPattern: $0) } + [0]
        guard uninterrupted({ name.withCString { symlinkat(target, descriptor, $0) } }) == 0 else {
            throw failure(.link, name)
        }
    }

    /// The target of a symbolic link.
    public func linkTarget(_ name: FileName) throws -> [UInt8] {
        try withUnsafeTemporaryAllocation(byteCount: Int(PATH_MAX), alignment: 1) { buffer in
            guard let bytes = buffer.assumingMemoryBound(to: CChar.self).baseAddress else {
                preconditionFailure("a buffer of PATH_MAX bytes has an address")
            }
            let count = name.withCString { readlinkat(descriptor, $0, bytes, buffer.count) }
            guard count >= 0 else { throw failure(.read, name) }
            return Array(buffer.prefix(count))
        }
    }

    /// Returns the system's record of the directory itself.
    public func info() throws -> FileInfo {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw FileError.failed(.inspect, path, Errno(rawValue: errno))
        }
        return FileInfo(status)
    }

    /// Returns the system's record of a name, not following a symbolic link.
    public func info(_ name: FileName) throws -> FileInfo {
        var status = stat()
        let result = uninterrupted {
            name.withCString { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }
        }
        guard result == 0 else {
            throw failure(.inspect, name)
        }
        return FileInfo(status)
    }

    /// Whether there is something with this name.
    public func contains(_ name: FileName) -> Bool {
        (try? info(name)) != nil
    }

    /// All names but `.` and `..`, sorted by their bytes, so that the same tree gives the same archive.
    public func names() throws -> [FileName] {
        func failure() -> FileError { .failed(.list, path, Errno(rawValue: errno)) }
        // readdir(3) owns the descriptor it reads from and moves its offset: it gets its own.
        let copy = uninterrupted {
            cfiles_openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        }
        guard copy != -1 else { throw failure() }
        guard let stream = fdopendir(copy) else {
            close(copy)
            throw failure()
        }
        defer { closedir(stream) }
        var names: [FileName] = []
        errno = 0
        while let entry = readdir(stream) {
            let bytes = withUnsafePointer(to: &entry.pointee.d_name) { field in
                let start = UnsafeRawPointer(field).assumingMemoryBound(to: UInt8.self)
                return Array(
                    UnsafeBufferPointer(
                        start: start,
                        count: strlen(UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self))
                    )
                )
            }
            if bytes != [0x2E] && bytes != [0x2E, 0x2E] {
                names.append(FileName(unchecked: bytes))
            }
            errno = 0
        }
        guard errno == 0 else { throw failure() }
        return names.sorted()
    }

    /// Sets permission bits and modification time of something in this directory.
    ///
    /// A symbolic link has no permission bits of its own: they are left out for one.
    public func setAttributes(of name: FileName, isLink: Bool, mode: UInt16, modified: Int64) throws
    {
        let status = name.withCString { name -> CInt in
            if !isLink,
                uninterrupted({ fchmodat(descriptor, name, mode_t(mode), 0) }) != 0
            {
                return -1
            }
            return uninterrupted { cfiles_set_modification_time(descriptor, name, modified) }
        }
        guard status == 0 else { throw failure(.setAttributes, name) }
    }

    /// Sets owner and group of a name, not following a symbolic link; only root may.
    public func setOwner(of name: FileName, owner: UInt32, group: UInt32) throws {
        let status = uninterrupted {
            name.withCString { fchownat(descriptor, $0, owner, group, AT_SYMLINK_NOFOLLOW) }
        }
        guard status == 0 else {
            throw failure(.setAttributes, name)
        }
    }

    /// Sets permission bits and modification time of the directory itself.
    public func setAttributes(mode: UInt16, modified: Int64) throws {
        guard uninterrupted({ fchmod(descriptor, mode_t(mode)) }) == 0,
            uninterrupted({ cfiles_set_descriptor_modification_time(descriptor, modified) }) == 0
        else { throw FileError.failed(.setAttributes, path, Errno(rawValue: errno)) }
    }

    /// Sets owner and group of the directory itself; only root may.
    public func setOwner(_ owner: UInt32, group: UInt32) throws {
        guard uninterrupted({ fchown(descriptor, owner, group) }) == 0 else {
            throw FileError.failed(.setAttributes, path, Errno(rawValue: errno))
        }
    }

    /// Flushes the directory's entries to the disk.
    public func sync() throws {
        guard uninterrupted({ cfiles_sync(descriptor) }) == 0 else {
            throw FileError.failed(.sync, path, Errno(rawValue: errno))
        }
    }

    /// Whether the system has a call that flushes a whole file system and waits for it.
    public static var canSyncFileSystem: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// Flushes all that was written to the file system that the directory is on (syncfs(2)).
    ///
    /// - Throws: `FileError`, also for an error in writing what was written before.
    public func syncFileSystem() throws {
        guard uninterrupted({ cfiles_sync_file_system(descriptor) }) == 0 else {
            throw FileError.failed(.sync, path, Errno(rawValue: errno))
        }
    }

    /// The bytes that may still be written to the file system.
    public func availableSpace() throws -> Int64 {
        let space = cfiles_available_space(descriptor)
        guard space >= 0 else { throw FileError.failed(.inspect, path, Errno(rawValue: errno)) }
        return space
    }

    /// Removes a name that is not a directory.
    public func removeFile(_ name: FileName) throws {
        guard uninterrupted({ name.withCString { unlinkat(descriptor, $0, 0) } }) == 0 else {
            throw failure(.remove, name)
        }
    }

    /// Removes an empty directory.
    public func removeDirectory(_ name: FileName) throws {
        guard uninterrupted({ name.withCString { unlinkat(descriptor, $0, AT_REMOVEDIR) } }) == 0
        else {
            throw failure(.remove, name)
        }
    }

    /// The path of a name in this directory, for messages.
    public func path(of name: FileName) -> FilePath {
        RelativePath(name: name).below(path)
    }

    private func openAt(_ name: FileName, _ flags: CInt) -> CInt {
        uninterrupted {
            name.withCString {
                cfiles_openat(descriptor, $0, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
            }
        }
    }

    private func failure(_ action: FileError.Action, _ name: FileName) -> FileError {
        let errno = Errno(rawValue: errno)
        return errno == .fileExists
            ? .exists(path(of: name)) : .failed(action, path(of: name), errno)
    }
}
