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

/// A destination of bytes that are written once and in order: a file, or another program.
public protocol ByteSink: Sendable {
    /// The path for messages.
    var path: FilePath { get }

    /// Whether it collects written bytes, so that many short writes cost no more than a long one.
    var collects: Bool { get }

    /// Writes all bytes at an offset, which is the end of the previous write.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws

    /// See `File`.
    func setUncached(_ isUncached: Bool) -> Bool
    /// See `File`.
    func beginWriteback(from offset: Int64, length: Int64)
    /// See `File`.
    func finishWriteback(from offset: Int64, length: Int64)
}

extension ByteSink {
    public var collects: Bool { false }
    public func setUncached(_ isUncached: Bool) -> Bool { false }
    public func beginWriteback(from offset: Int64, length: Int64) {}
    public func finishWriteback(from offset: Int64, length: Int64) {}
}

extension UnsafeMutableRawBufferPointer {
    /// Returns new memory that begins at a cache line; the caller deallocates it.
    public static func aligned(byteCount: Int) -> Self {
        allocate(byteCount: byteCount, alignment: 64)
    }
}
