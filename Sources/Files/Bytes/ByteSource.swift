public import SystemPackage

/// Bytes that several threads can read at offsets: a file, or a substitute for one.
public protocol ByteSource: Sendable {
    /// The path for messages.
    var path: FilePath { get }

    /// The present size in bytes.
    var size: Int64 { get throws }

    /// Reads from an offset until the buffer is full or the source ends.
    ///
    /// - Returns: the number of bytes read; smaller than the buffer only at the end.
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

/// Bytes in memory that are read like a file.
public struct MemorySource: ByteSource {
    public let path: FilePath
    public let bytes: [UInt8]

    /// Creates a source from bytes.
    ///
    /// - Parameters:
    ///   - path: the path for messages.
    ///   - bytes: the bytes.
    public init(path: FilePath, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
    }

    public var size: Int64 { Int64(bytes.count) }

    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let start = Int(min(max(0, offset), size))
        let part = bytes[start...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        return part.count
    }
}
