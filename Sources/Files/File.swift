internal import CFiles
public import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// An open regular file, read and written at offsets.
///
/// A class, so that threads can share one; the descriptor is closed with the last reference.
public final class File: ByteSource, ByteSink {
    /// The path of the file, or of the directory that it was opened in, and its name there.
    private let place: (path: FilePath, name: FileName?)
    let descriptor: CInt

    /// The path it was opened by, for messages.
    public var path: FilePath {
        // Made when it is asked for: of thousands of files, few are.
        place.name.map { RelativePath(name: $0).below(place.path) } ?? place.path
    }

    init(adopting descriptor: CInt, path: FilePath) {
        self.descriptor = descriptor
        place = (path, nil)
    }

    init(adopting descriptor: CInt, name: FileName, in directory: Directory) {
        self.descriptor = descriptor
        place = (directory.path, name)
    }

    deinit {
        close(descriptor)
    }

    /// Opens a file for reading, following symbolic links.
    ///
    /// - Throws: `FileError`; `.notA` if it is not a regular file.
    public static func open(_ path: FilePath) throws -> File {
        // Without O_NONBLOCK, a named pipe with that name would wait for its writer.
        let file = try File(path: path, flags: O_RDONLY | O_NONBLOCK, action: .open)
        guard try file.info().kind == .file else { throw FileError.notA(.file, path) }
        return file
    }

    /// Creates a new file for reading and writing: mode 0600, whatever the umask.
    ///
    /// - Throws: `FileError`; `.exists` if the name is taken.
    public static func create(_ path: FilePath) throws -> File {
        try File(path: path, flags: O_RDWR | O_CREAT | O_EXCL, action: .create)
    }

    private convenience init(path: FilePath, flags: CInt, action: FileError.Action) throws {
        let descriptor = try systemCall(action, path) {
            path.withPlatformString { cfiles_openat(AT_FDCWD, $0, flags | O_CLOEXEC, 0o600) }
        }
        self.init(adopting: descriptor, path: path)
    }

    /// Returns the system's record of the file as it is now.
    public func info() throws -> FileInfo {
        var status = stat()
        try systemCall(.inspect, path) { fstat(descriptor, &status) }
        return FileInfo(status)
    }

    public var size: Int64 {
        get throws { try info().size }
    }

    /// Reads from an offset until the buffer is full or the file ends; see `ByteSource`.
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        // Only an empty buffer has no address, and there is nothing to read into it.
        guard let start = buffer.baseAddress else { return 0 }
        var done = 0
        while done < buffer.count {
            let count = try systemCall(.read, path) {
                pread(descriptor, start + done, buffer.count - done, off_t(offset) + off_t(done))
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Writes all bytes at an offset.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        // Only an empty buffer has no address, and there is nothing to write from it.
        guard let start = bytes.baseAddress else { return }
        var done = 0
        while done < bytes.count {
            done += try systemCall(.write, path) {
                pwrite(descriptor, start + done, bytes.count - done, off_t(offset) + off_t(done))
            }
        }
    }

    /// Cuts or extends the file.
    public func truncate(to size: Int64) throws {
        try systemCall(.write, path) { ftruncate(descriptor, off_t(size)) }
    }

    /// Flushes the file's content and size to the disk (fsync(2); F_FULLFSYNC on macOS).
    public func sync() throws {
        try systemCall(.sync, path) { cfiles_sync(descriptor) }
    }

    /// The unit of writes that go round the page cache: a multiple of every disk's block.
    public static let uncachedBlock = Int(CFILES_UNCACHED_BLOCK)

    /// Lets writes go round the system's page cache, or not (O_DIRECT of open(2); F_NOCACHE on macOS).
    ///
    /// To write a file that nobody reads soon then takes a fraction of the processor's time, and pushes
    /// out nothing that applications use. Address, offset and length of every write must be multiples
    /// of `uncachedBlock` as long as it is on.
    ///
    /// - Returns: `false` if the file system cannot, or is not known to be faster so.
    public func setUncached(_ isUncached: Bool) -> Bool {
        cfiles_set_uncached(descriptor, isUncached ? 1 : 0) == 0
    }

    /// Lets the system start to write a range to the disk, so that a later `sync()` waits less.
    public func beginWriteback(from offset: Int64, length: Int64) {
        cfiles_begin_writeback(descriptor, off_t(offset), off_t(length))
    }

    /// Waits until a range has been written to the disk, and gives up its pages in memory.
    ///
    /// They need not push out what applications use, and a page that is free again costs less than one
    /// that was never used.
    public func finishWriteback(from offset: Int64, length: Int64) {
        cfiles_finish_writeback(descriptor, off_t(offset), off_t(length))
    }

    /// Sets permission bits (0 to 0o7777), as they are given: no umask.
    public func setMode(_ mode: UInt16) throws {
        try systemCall(.setAttributes, path) { fchmod(descriptor, mode_t(mode)) }
    }

    /// Sets the modification time, in nanoseconds since 1970-01-01 UTC.
    public func setModified(_ nanoseconds: Int64) throws {
        try systemCall(.setAttributes, path) {
            cfiles_set_descriptor_modification_time(descriptor, nanoseconds)
        }
    }

    /// Sets owner and group; only root may give a file away.
    public func setOwner(_ owner: UInt32, group: UInt32) throws {
        try systemCall(.setAttributes, path) { fchown(descriptor, owner, group) }
    }
}

extension File {
    /// Reads a whole file that is known to be small, following symbolic links.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - limit: bytes that it may have. A longer one is there by accident or to fill our memory, and a
    ///     sparse one costs its writer nothing.
    /// - Returns: its bytes.
    /// - Throws: `FileError`; `.tooLong` before anything is read.
    public static func contents(of path: FilePath, limit: Int64) throws -> [UInt8] {
        let file = try File.open(path)
        let size = try file.info().size
        guard size <= limit else { throw FileError.tooLong(path, limit: limit) }
        return try file.readExactly(count: Int(size), at: 0)
    }

    /// Copies the file's bytes to a new file.
    ///
    /// - Parameters:
    ///   - path: the new file; mode 0600, whatever the umask.
    ///   - syncing: whether the copy must be on the disk when this returns.
    /// - Returns: the copy, open for reading and writing.
    /// - Throws: `FileError`; `.exists` if the name is taken. A copy that failed half-way is left
    ///   to the caller.
    @discardableResult
    public func copy(to path: FilePath, syncing: Bool) throws -> File {
        let target = try File.create(path)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try read(into: buffer, at: offset)
            try target.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            offset += Int64(count)
            if count < buffer.count { break }
        }
        if syncing { try target.sync() }
        return target
    }
}
