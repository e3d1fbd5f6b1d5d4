internal import CFiles
internal import Foundation
internal import Synchronization
public import SystemPackage

/// A stream of bytes to another program; one thread writes.
public final class OutgoingStream: ByteSink {
    public let path: FilePath
    /// The end that the other program reads.
    ///
    /// Its owner closes it, so that a write fails if nobody reads.
    public let reading: FileDescriptor
    private let descriptor: Mutex<CInt?>

    /// Makes a stream.
    ///
    /// - Parameter path: the path for messages.
    /// - Throws: `FileError`.
    public init(_ path: FilePath) throws {
        var ends: (reading: CInt, writing: CInt) = (-1, -1)
        try systemCall(.create, path) { cfiles_stream(&ends.reading, &ends.writing) }
        self.path = path
        reading = FileDescriptor(rawValue: ends.reading)
        descriptor = Mutex(ends.writing)
    }

    deinit { close() }

    /// Waits until the program, or the system on its behalf, has accepted all bytes; the offset is ignored.
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

    /// Ends the stream; no write may be in progress.
    public func close() {
        descriptor.withLock { descriptor in
            if let descriptor { _ = closeDescriptor(descriptor) }
            descriptor = nil
        }
    }
}

private func closeDescriptor(_ descriptor: CInt) -> CInt { close(descriptor) }

/// A pipe (pipe(2)) whose ends only the program that receives them inherits.
///
/// Otherwise another program that is started at the same time would keep the pipe open.
public struct PipeEnds: Sendable {
    public let reading: FileDescriptor
    public let writing: FileDescriptor

    /// Creates a pipe; its owner closes both ends.
    public init() throws(Errno) {
        var ends: (reading: CInt, writing: CInt) = (-1, -1)
        guard cfiles_pipe(&ends.reading, &ends.writing) == 0 else { throw Errno(rawValue: errno) }
        reading = FileDescriptor(rawValue: ends.reading)
        writing = FileDescriptor(rawValue: ends.writing)
    }
}
