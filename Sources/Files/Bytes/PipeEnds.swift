internal import CFiles
public import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A pipe (pipe(2)) whose ends are inherited only by the program that is given them.
///
/// Another program that is started at the same time would keep it open.
public struct PipeEnds: Sendable {
    public let reading: FileDescriptor
    public let writing: FileDescriptor

    /// Makes a pipe; its owner closes both ends.
    public init() throws(Errno) {
        var ends: (reading: CInt, writing: CInt) = (-1, -1)
        guard cfiles_pipe(&ends.reading, &ends.writing) == 0 else { throw Errno(rawValue: errno) }
        reading = FileDescriptor(rawValue: ends.reading)
        writing = FileDescriptor(rawValue: ends.writing)
    }
}
