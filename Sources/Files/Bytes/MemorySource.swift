public import SystemPackage

/// Bytes in memory, read as those of a file are.
public struct MemorySource: ByteSource {
    public let path: FilePath
    public let bytes: [UInt8]

    /// Takes bytes.
    ///
    /// - Parameters:
    ///   - path: the name that messages give them.
    ///   - bytes: all of them.
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
