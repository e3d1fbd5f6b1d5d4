public import Files
internal import Foundation

/// The parts of files that are compressed, hashed, verified and restored in parallel.
public enum Segment {
    /// The size in bytes of every segment of a file except its last.
    public static let size = 1 << 20
    /// The maximum length in bytes of a segment in an archive.
    static let compressedLimit = size + 1024

    /// Returns the number of segments of a file of `size` bytes.
    public static func count(forSize size: Int64) -> Int {
        // An addition could overflow, since an archive may declare the largest size.
        Int(size / Int64(Self.size)) + (size % Int64(Self.size) == 0 ? 0 : 1)
    }

    /// Returns the length in bytes of the segment at an index in a file of `size` bytes.
    public static func length(at index: Int, ofSize size: Int64) -> Int {
        Int(min(Int64(Self.size), size - Int64(index) * Int64(Self.size)))
    }
}

/// One segment of an entry's data in the archive.
public struct SegmentRecord: Sendable, Equatable {
    /// The SHA-256 of the bytes before compression.
    public var digest: Digest
    /// The length in bytes in the archive.
    public var length: Int

    public init(digest: Digest, length: Int) {
        self.digest = digest
        self.length = length
    }
}

/// A whole segment of zeros, hashed and compressed only once, since a file with holes has many.
public enum ZeroSegment {
    /// The bytes, which take no memory, since they are never written.
    nonisolated(unsafe) static let bytes: UnsafeRawBufferPointer = {
        guard let start = calloc(1, Segment.size) else { fatalError("out of memory") }
        return UnsafeRawBufferPointer(start: start, count: Segment.size)
    }()

    /// The SHA-256 of the segment.
    public static let digest = Digest(of: bytes)

    static let checksum = Checksum(of: bytes).value

    /// The compressed bytes, unless the segment is an entry's last one.
    static let deflated: [UInt8] = {
        var space = [UInt8](repeating: 0, count: Segment.size)
        let length = space.withUnsafeMutableBytes { space in
            space.baseAddress.flatMap {
                SegmentDeflater(.default).deflate(
                    bytes,
                    into: $0,
                    capacity: space.count,
                    isLast: false
                )
            }
        }
        guard let length else { preconditionFailure("zeros shrink") }
        return Array(space.prefix(length))
    }()

    /// Returns whether the bytes are a whole segment of zeros.
    static func isEqual(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == Segment.size, let start = bytes.baseAddress,
            let zeros = self.bytes.baseAddress
        else { return false }
        return start == zeros || memcmp(start, zeros, Segment.size) == 0
    }
}

extension Digest {
    /// Returns the SHA-256 of a segment of a file.
    public init(ofSegment bytes: UnsafeRawBufferPointer) {
        self = ZeroSegment.isEqual(bytes) ? ZeroSegment.digest : Digest(of: bytes)
    }
}
