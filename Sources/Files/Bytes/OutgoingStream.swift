internal import CFiles
internal import Synchronization
public import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A stream of bytes to another program; one thread writes.
public final class OutgoingStream: ByteSink {
    public let path: FilePath
    /// The end that the program reads; its owner closes it, so that a write fails once nobody reads.
    public let reading: FileDescriptor
    private let descriptor: Mutex<CInt?>

    /// Makes a stream.
    ///
    /// - Parameter path: the name that messages give it.
    /// - Throws: `FileError`.
    public init(_ path: FilePath) throws {
        var ends: (reading: CInt, writing: CInt) = (-1, -1)
        try systemCall(.create, path) { cfiles_stream(&ends.reading, &ends.writing) }
        self.path = path
        reading = FileDescriptor(rawValue: ends.reading)
        descriptor = Mutex(ends.writing)
    }

    deinit { close() }

    /// Waits until the program, or the system for it, has taken all bytes; the offset does not matter.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        guard let start = bytes.baseAddress else { return }
        guard let descriptor = descriptor.withLock(\.self) else {
            throw FileError.failed(.write, path, .brokenPipe)
        }
        var done = 0
        while done < bytes.count {
            done += try systemCall(.write, path) {
                cfiles_send(descriptor, start + done, bytes.count - done)
            }
        }
    }

    /// Ends the stream; nobody may be writing.
    public func close() {
        descriptor.withLock { descriptor in
            if let descriptor { _ = closeDescriptor(descriptor) }
            descriptor = nil
        }
    }
}

private func closeDescriptor(_ descriptor: CInt) -> CInt { close(descriptor) }
