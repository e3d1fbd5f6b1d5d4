public import SystemPackage

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A directory of our own, mode 0700, that is removed with the last reference to it.
public final class ScratchDirectory: Sendable {
    /// Where it is.
    public let path: FilePath

    /// Makes a new one, with a name that nothing else has.
    ///
    /// - Parameter parent: where to make it.
    /// - Throws: `FileError`.
    public init(in parent: FilePath) throws {
        let template = parent.appending("grocerydude.XXXXXX")
        var bytes = template.withPlatformString {
            Array(UnsafeBufferPointer(start: $0, count: template.length + 1))
        }
        let made = bytes.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.map { mkdtemp($0) != nil } ?? false
        }
        guard made else { throw FileError.failed(.create, template, Errno(rawValue: errno)) }
        path = FilePath(platformString: bytes)
    }

    deinit {
        try? LocalFileSystem().remove(path)
    }
}
