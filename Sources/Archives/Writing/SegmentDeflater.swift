internal import CIsal
internal import CZlib

/// The compression level of an archive's data.
///
/// All levels give standard deflate or stored data.
public enum Compression: String, CaseIterable, Sendable {
    /// ISA-L level 1.
    case fast
    /// ISA-L level 2.
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
        guard case .isal = engine, input.count >= 2 * Self.samples * Self.sampleSize,
            let base = output.baseAddress, output.count >= Self.sampleSize
        else { return true }
        let stride = (input.count - Self.sampleSize) / (Self.samples - 1)
        return (0..<Self.samples).contains { number in
            let start = number * stride
            let sample = UnsafeRawBufferPointer(
                rebasing: input[start..<(start + Self.sampleSize)]
            )
            return deflate(sample, into: base, capacity: Self.leastShrunk, isLast: true) != nil
        }
    }

    private static let samples = 5
    private static let sampleSize = 16 << 10
    /// The maximum compressed length of a sample from data that is worth compressing.
    private static let leastShrunk = sampleSize - sampleSize / 64

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
