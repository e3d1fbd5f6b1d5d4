public import SystemPackage

/// Bytes that are read at offsets, by several threads at once: a file, or something that stands for one.
public protocol ByteSource: Sendable {
    /// The name that messages give it.
    var path: FilePath { get }

    /// Bytes in it now.
    var size: Int64 { get throws }

    /// Reads from an offset until the buffer is full or the source ends.
    ///
    /// - Returns: the count of bytes read; less than asked for only at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int
}

extension ByteSource {
    /// Reads from an offset until the buffer is full.
    ///
    /// - Throws: `FileError.endedEarly` if the source is too short.
    public func readExactly(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
        guard try read(into: buffer, at: offset) == buffer.count else {
            throw FileError.endedEarly(path)
        }
    }

    /// Reads a range into an array.
    ///
    /// - Throws: `FileError.endedEarly` if the source is too short.
    public func readExactly(count: Int, at offset: Int64) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            try readExactly(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            initialized = count
        }
    }
}
