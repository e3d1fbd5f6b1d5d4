internal import CIsal
internal import CZlib

/// The compression level of an archive's data.
///
/// All levels give standard deflate or stored data.
public enum Compression: String, CaseIterable, Sendable {
    /// ISA-L level 1, or zlib level 1 if the program was built without ISA-L.
    case fast
    /// ISA-L level 2, or zlib level 4 if the program was built without ISA-L.
    case `default`
    /// zlib level 9: many times slower, for one or two percent less.
    case best
    /// No compression: the data is stored.
    case none
}

/// A compressor for one segment at a time.
///
/// Each segment inflates alone, and all together are one deflate stream (RFC 1951). Every segment except the last ends
/// with a full flush.
///
/// It holds working memory, so each thread creates one and keeps it.
final class SegmentDeflater {
    private enum Engine {
        case isal(UnsafeMutableRawPointer)
        case zlib(UnsafeMutablePointer<z_stream>)
        case none
    }

    private let engine: Engine
    /// Whether samples decide if a large piece is compressed.
    private let samples: Bool

    init(_ compression: Compression) {
        switch compression {
        case .fast: engine = Self.engine(level: 1, zlib: 1)
        case .default: engine = Self.engine(level: 2, zlib: 4)
        case .best: engine = .zlib(Self.zlib(level: 9))
        case .none: engine = .none
        }
        samples = compression != .best && compression != .none
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
    /// - Returns: the compressed length; `nil` if it would not be smaller than `capacity`.
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
            // A flush that filled the output may have more output, so it counts as too large.
            let isWhole =
                isLast ? status == Z_STREAM_END : status == Z_OK && stream.pointee.avail_out > 0
            return isWhole ? capacity - Int(stream.pointee.avail_out) : nil
        case .none:
            return nil
        }
    }

    /// Returns whether a large piece may shrink, judged by a few samples of it.
    ///
    /// Photos, films and encrypted data do not shrink. To find this out from all data would take a third of the
    /// backup's time. A sample is longer than a typical repetition distance.
    /// - Parameters:
    ///   - input: the piece.
    ///   - output: the space for a sample.
    /// - Returns: `true` also if the piece is short, or if `best` is wanted, without a sample.
    func mayShrink(
        _ input: UnsafeRawBufferPointer,
        trying output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard samples, input.count >= 2 * Self.sampleCount * Self.sampleSize,
            let base = output.baseAddress, output.count >= Self.sampleSize
        else { return true }
        let stride = (input.count - Self.sampleSize) / (Self.sampleCount - 1)
        return (0..<Self.sampleCount).contains { number in
            let start = number * stride
            let sample = UnsafeRawBufferPointer(
                rebasing: input[start..<(start + Self.sampleSize)]
            )
            return deflate(sample, into: base, capacity: Self.leastShrunk, isLast: true) != nil
        }
    }

    private static let sampleCount = 5
    private static let sampleSize = 16 << 10
    /// The maximum compressed length of a sample from data that is worth compressing.
    private static let leastShrunk = sampleSize - sampleSize / 64

    /// Returns ISA-L at a level, or zlib at another if there is no ISA-L.
    private static func engine(level: UInt32, zlib: CInt) -> Engine {
        cisal_deflater_create(level).map(Engine.isal) ?? .zlib(Self.zlib(level: zlib))
    }

    private static func zlib(level: CInt) -> UnsafeMutablePointer<z_stream> {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream,
            level,
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
