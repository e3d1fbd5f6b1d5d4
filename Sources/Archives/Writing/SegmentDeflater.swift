internal import CIsal
internal import CZlib

/// Compresses segments one at a time, each so that it inflates alone and all of them together are
/// one deflate stream (RFC 1951): all but the last end on a full flush.
///
/// It holds the compressor's working memory, so each thread makes one and keeps it.
final class SegmentDeflater {
    private enum Engine {
        case isal(UnsafeMutableRawPointer)
        case zlib(UnsafeMutablePointer<z_stream>)
        case none
    }

    private let engine: Engine

    init(_ compression: Compression) {
        switch compression {
        case .fast: engine = .isal(Self.isal(level: 1))
        case .default: engine = .isal(Self.isal(level: 2))
        case .best: engine = .zlib(Self.zlib())
        case .none: engine = .none
        }
    }

    deinit {
        switch engine {
        case .isal(let state): cisal_deflater_destroy(state)
        case .zlib(let stream):
            deflateEnd(stream)
            stream.deallocate()
        case .none: break
        }
    }

    /// Deflates one segment.
    ///
    /// - Returns: the compressed length, or `nil` where it would not be smaller than `capacity`.
    func deflate(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawPointer,
        capacity: Int,
        isLast: Bool
    ) -> Int? {
        switch engine {
        case .isal(let state):
            let length = cisal_deflate(
                state,
                input.baseAddress,
                UInt32(input.count),
                output.assumingMemoryBound(to: UInt8.self),
                UInt32(capacity),
                isLast ? 1 : 0
            )
            return length >= 0 ? Int(length) : nil
        case .zlib(let stream):
            deflateReset(stream)
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self)
            )
            stream.pointee.avail_in = UInt32(input.count)
            stream.pointee.next_out = output.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(capacity)
            let status = CZlib.deflate(stream, isLast ? Z_FINISH : Z_FULL_FLUSH)
            // A flush that filled the output may have more to say: it counts as not fitting.
            let isWhole =
                isLast ? status == Z_STREAM_END : status == Z_OK && stream.pointee.avail_out > 0
            return isWhole ? capacity - Int(stream.pointee.avail_out) : nil
        case .none:
            return nil
        }
    }

    private static func isal(level: UInt32) -> UnsafeMutableRawPointer {
        guard let state = cisal_deflater_create(level) else { fatalError("out of memory") }
        return state
    }

    private static func zlib() -> UnsafeMutablePointer<z_stream> {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream,
            9,
            Z_DEFLATED,
            -MAX_WBITS,
            9,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            CInt(MemoryLayout<z_stream>.size)
        )
        guard status == Z_OK else { fatalError("zlib cannot start: \(status)") }
        return stream
    }
}

/// Deflate's stored blocks (RFC 1951, 3.2.4), for a segment that does not shrink in the middle of
/// a stream that does.
enum StoredBlocks {
    private static let blockSize = 65_535

    /// Gives the headers and the bytes between them to `write`, in order, and returns their length.
    static func write(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        to write: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Int {
        var written = 0
        var rest = input[...]
        repeat {
            let block = rest.prefix(blockSize)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            let header: [UInt8] = [
                isLast && rest.isEmpty ? 1 : 0,
                UInt8(truncatingIfNeeded: length), UInt8(truncatingIfNeeded: length >> 8),
                UInt8(truncatingIfNeeded: ~length), UInt8(truncatingIfNeeded: ~length >> 8),
            ]
            try header.withUnsafeBytes(write)
            try write(UnsafeRawBufferPointer(rebasing: block))
            written += header.count + block.count
        } while !rest.isEmpty
        return written
    }
}

/// CRC-32 as in zip (ISA-L's `crc32_gzip_refl`).
struct Checksum {
    private(set) var value: UInt32 = 0

    init() {}

    init(of bytes: UnsafeRawBufferPointer) {
        value = crc32_gzip_refl(
            0,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            UInt64(bytes.count)
        )
    }

    /// The checksum of more bytes after these.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        value = crc32_gzip_refl(
            value,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            UInt64(bytes.count)
        )
    }

    /// The checksum of these bytes and `length` bytes after them whose checksum is known.
    mutating func append(_ next: UInt32, length: Int) {
        value = UInt32(truncatingIfNeeded: crc32_combine(UInt(value), UInt(next), length))
    }
}
