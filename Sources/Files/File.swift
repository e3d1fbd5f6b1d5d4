internal import CFiles
internal import Foundation
public import SystemPackage

/// An open regular file, readable and writable at offsets.
///
/// It is a class, so that threads can share it; the descriptor is closed with the last reference.
public final class File: ByteSource, ByteSink {
    /// The path of the file; or the path of the directory in which it was opened, and its name there.
    private let place: (path: FilePath, name: FileName?)
    let descriptor: CInt

    /// The path by which it was opened, for messages.
    public var path: FilePath {
        // The path is built on request, since most files never need it.
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
    /// - Parameters:
    ///   - path: the file.
    ///   - shown: the path for messages about it, once it is open; `nil` for its own.
    /// - Returns: the file.
    /// - Throws: `FileError`; `.notA` if it is not a regular file.
    public static func open(_ path: FilePath, shownAs shown: FilePath? = nil) throws -> File {
        // Without O_NONBLOCK, a named pipe with that name would wait for its writer.
        let flags = O_RDONLY | O_NONBLOCK
        let file = try File(path: path, flags: flags, action: .open, shownAs: shown)
        guard try file.info().kind == .file else { throw FileError.notA(.file, path) }
        return file
    }

    /// Creates a new file for reading and writing: mode 0600, whatever the umask.
    ///
    /// - Throws: `FileError`; `.exists` if the name is taken.
    public static func create(_ path: FilePath) throws -> File {
        try File(path: path, flags: O_RDWR | O_CREAT | O_EXCL, action: .create)
    }

    /// Opens a file for reading and writing, and creates it with mode 0600 if it is missing.
    static func openForLocks(_ path: FilePath) throws -> File {
        try File(path: path, flags: O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, action: .open)
    }

    private convenience init(
        path: FilePath,
        flags: CInt,
        action: FileError.Action,
        shownAs shown: FilePath? = nil
    ) throws {
        let descriptor = try systemCall(action, path) {
            path.withPlatformString { cfiles_openat(AT_FDCWD, $0, flags | O_CLOEXEC, 0o600) }
        }
        self.init(adopting: descriptor, path: shown ?? path)
    }

    /// Returns the system's present record of the file.
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
        // Only an empty buffer has no address.
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
        // Only an empty buffer has no address.
        guard let start = bytes.baseAddress else { return }
        var done = 0
        while done < bytes.count {
            done += try systemCall(.write, path) {
                pwrite(descriptor, start + done, bytes.count - done, off_t(offset) + off_t(done))
            }
        }
    }

    /// Writes bytes at an offset of a new file, but leaves long runs of zeros as holes.
    ///
    /// The caller has to extend a file that ends in a hole.
    public func writeLeavingHoles(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        var start = 0
        for hole in ZeroRuns(in: bytes, at: offset) {
            try write(
                UnsafeRawBufferPointer(rebasing: bytes[start..<hole.lowerBound]),
                at: offset + Int64(start)
            )
            start = hole.upperBound
        }
        try write(UnsafeRawBufferPointer(rebasing: bytes[start...]), at: offset + Int64(start))
    }

    /// Returns the first range from an offset that may have other bytes than zeros (SEEK_DATA of lseek(2)).
    ///
    /// - Returns: the range; an empty one at the end of the file if only a hole follows. A file system without holes
    ///   reports the whole file.
    public func data(from offset: Int64) throws -> Range<Int64> {
        var (start, end): (off_t, off_t) = (0, 0)
        try systemCall(.read, path) { cfiles_find_data(descriptor, off_t(offset), &start, &end) }
        return Int64(start)..<Int64(end)
    }

    /// Shortens or extends the file.
    public func truncate(to size: Int64) throws {
        try systemCall(.write, path) { ftruncate(descriptor, off_t(size)) }
    }

    /// Flushes the file's content and size to the disk (fsync(2); F_FULLFSYNC on macOS).
    public func sync() throws {
        try systemCall(.sync, path) { cfiles_sync(descriptor) }
    }

    /// The unit of uncached writes: a multiple of every disk's block.
    public static let uncachedBlock = Int(CFILES_UNCACHED_BLOCK)

    /// Makes writes bypass the system's page cache, or not (O_DIRECT of open(2); F_NOCACHE on macOS).
    ///
    /// Writing a file that is not read soon then takes much less processor time, and keeps the applications' pages in
    /// the cache. In this mode the address, the offset and the length of every write must be multiples of
    /// `uncachedBlock`.
    ///
    /// - Returns: `false` if the file system does not support it, or is not known to be faster.
    public func setUncached(_ isUncached: Bool) -> Bool {
        cfiles_set_uncached(descriptor, isUncached ? 1 : 0) == 0
    }

    /// Starts to write a range to the disk, so that a later `sync()` takes less time.
    public func beginWriteback(from offset: Int64, length: Int64) {
        cfiles_begin_writeback(descriptor, off_t(offset), off_t(length))
    }

    /// Waits until a range is written to the disk, and releases its pages in memory.
    ///
    /// These pages then do not displace those of applications. Reusing a freed page costs less than a page that was
    /// never used.
    public func finishWriteback(from offset: Int64, length: Int64) {
        cfiles_finish_writeback(descriptor, off_t(offset), off_t(length))
    }

    /// Sets the permission bits (0 to 0o7777), ignoring the umask.
    public func setMode(_ mode: UInt16) throws {
        try systemCall(.setAttributes, path) { fchmod(descriptor, mode_t(mode)) }
    }

    /// Sets the modification time, in nanoseconds since 1970-01-01 UTC.
    public func setModified(_ nanoseconds: Int64) throws {
        try systemCall(.setAttributes, path) {
            cfiles_set_descriptor_modification_time(descriptor, nanoseconds)
        }
    }

    /// Sets the owner and the group; only root may give a file away.
    public func setOwner(_ owner: UInt32, group: UInt32) throws {
        try systemCall(.setAttributes, path) { fchown(descriptor, owner, group) }
    }
}

extension File {
    /// Reads a whole file that is known to be small, following symbolic links.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - limit: the maximum size in bytes. A longer file is an accident, or an attempt to exhaust memory: a sparse
    ///     file costs its writer nothing.
    /// - Returns: the bytes.
    /// - Throws: `FileError`; `.tooLong` before anything is read.
    public static func contents(of path: FilePath, limit: Int64) throws -> [UInt8] {
        let file = try File.open(path)
        let size = try file.info().size
        guard size <= limit else { throw FileError.tooLong(path, limit: limit) }
        return try file.readExactly(count: Int(size), at: 0)
    }

    /// Returns whether the file is empty, or begins with a text: then it has nothing of another program to lose.
    ///
    /// - Throws: `FileError`.
    public func isEmpty(orBeginsWith text: String) throws -> Bool {
        let start = Array(text.utf8)
        let found = try readExactly(count: Int(min(Int64(start.count), size)), at: 0)
        return found.isEmpty || found == start
    }

    /// Returns whether the file begins with all bytes of another file.
    ///
    /// - Throws: `FileError`.
    public func begins(with other: File) throws -> Bool {
        let size = try other.size
        let piece: Int64 = 1 << 16
        for offset in stride(from: 0, to: size, by: Int64.Stride(piece)) {
            let count = Int(min(piece, size - offset))
            let bytes = try [self, other].map { file in
                try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
                    done = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
                }
            }
            guard bytes[0] == bytes[1] else { return false }
        }
        return true
    }

    /// Calls a closure with each MiB of the file and its offset, up to the end.
    ///
    /// - Throws: `FileError`; errors of `body`.
    public func forEachPart(_ body: (UnsafeRawBufferPointer, Int64) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.aligned(byteCount: 1 << 20)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try read(into: buffer, at: offset)
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]), offset)
            offset += Int64(count)
            if count < buffer.count { return }
        }
    }

    /// Copies the file's bytes to a new file.
    ///
    /// - Parameters:
    ///   - path: the new file, with mode 0600 whatever the umask.
    ///   - syncing: whether the copy must be synced to the disk.
    /// - Returns: the copy, open for reading and writing.
    /// - Throws: `FileError`; `.exists` if the name is taken. An incomplete copy is not removed.
    @discardableResult
    public func copy(to path: FilePath, syncing: Bool) throws -> File {
        let target = try File.create(path)
        let buffer = UnsafeMutableRawBufferPointer.aligned(byteCount: 1 << 20)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            offset = try data(from: offset).lowerBound
            let count = try read(into: buffer, at: offset)
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            try target.writeLeavingHoles(bytes, at: offset)
            offset += Int64(count)
            if count < buffer.count { break }
        }
        try target.truncate(to: offset)
        if syncing { try target.sync() }
        return target
    }
}
