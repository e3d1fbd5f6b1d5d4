@testable internal import Archives
internal import CZlib
internal import Files
internal import Foundation
internal import SystemPackage
internal import TestSupport
internal import Testing

@Suite("Segments")
struct SegmentTests {
    private static let sizes = [
        0, 1, 2, 100, 65_535, 65_536, Segment.size - 1, Segment.size,
    ]

    @Test(
        "A segment inflates to its original bytes without its neighbours",
        arguments: Compression.allCases,
        sizes
    )
    func roundTrip(compression: Compression, size: Int) throws {
        let deflater = SegmentDeflater(compression)
        for shape in Shape.allCases {
            let bytes = shape.bytes(size)
            for isLast in [false, true] {
                let segment = deflate(bytes, by: deflater, isLast: isLast)
                let inflated = inflate(segment, size: size, isLast: isLast)
                let isWhole = isSame(inflated, bytes)
                #expect(isWhole, "\(shape), last: \(isLast)")
            }
        }
    }

    @Test(
        "Joined segments are one deflate stream for zlib, however they were made",
        arguments: Compression.allCases
    )
    func joined(compression: Compression) throws {
        let deflater = SegmentDeflater(compression)
        var stream: [UInt8] = []
        var bytes: [UInt8] = []
        for size in [1, 100, 65_536, Segment.size / 2] {
            for shape in Shape.allCases {
                let part = shape.bytes(size)
                bytes += part
                stream += deflate(part, by: deflater, isLast: false)
            }
        }
        stream += deflate([], by: deflater, isLast: true)
        let isWhole = isSame(zlibInflate(stream, size: bytes.count), bytes)
        #expect(isWhole)
    }

    @Test("Data that shrinks is deflated, and other data is not", arguments: Compression.allCases)
    func shrinks(compression: Compression) {
        let deflater = SegmentDeflater(compression)
        let text = Shape.text.bytes(Segment.size)
        let length = deflated(text, by: deflater, capacity: text.count - 1, isLast: true)?.count
        if compression == .none {
            #expect(length == nil)
        } else {
            #expect(length ?? .max < text.count / 2)
        }
        let random = Shape.random.bytes(Segment.size)
        #expect(deflated(random, by: deflater, capacity: random.count - 1, isLast: true) == nil)
    }

    @Test(
        "A compressor still works after a segment that did not fit",
        arguments: [Compression.fast, .default, .best]
    )
    func overflow(compression: Compression) {
        let deflater = SegmentDeflater(compression)
        let text = Shape.text.bytes(5000)
        let good = deflated(text, by: deflater, capacity: 5000, isLast: false)
        for capacity in [0, 1, 10, 500] {
            #expect(deflated(text, by: deflater, capacity: capacity, isLast: false) == nil)
        }
        #expect(deflated(text, by: deflater, capacity: 5000, isLast: false) == good)
    }

    @Test(
        "A segment that is cut, longer or of another length is refused",
        arguments: [false, true]
    )
    func wrongLengths(isLast: Bool) {
        let bytes = Shape.text.bytes(3000)
        let segment = deflate(bytes, by: SegmentDeflater(.default), isLast: isLast)
        // The end of a flush carries no data beyond the digest: if it is lost, the bytes after it show that.
        let needed = isLast ? segment.count : segment.count - 7
        for length in 0..<needed {
            let isRefused = inflate(Array(segment[..<length]), size: 3000, isLast: isLast) == nil
            #expect(isRefused, "\(length) bytes of \(segment.count)")
        }
        for extra in [1, 7, 8, 9, 100] where isLast || extra > 1 {
            let longer = segment + [UInt8](repeating: 0, count: extra)
            let isRefused = inflate(longer, size: 3000, isLast: isLast) == nil
            #expect(isRefused, "\(extra) bytes more")
        }
        for size in [0, 1, 2000, 2999, 3001] {
            let isRefused = inflate(segment, size: size, isLast: isLast) == nil
            #expect(isRefused, "\(size) bytes")
        }
        #expect((inflate(segment, size: 3000, isLast: !isLast) == nil) as Bool)
    }

    @Test("A flipped bit is refused, or changes bytes so that the checksum finds it")
    func flippedBits() {
        let bytes = Shape.text.bytes(700)
        let checksum = bytes.withUnsafeBytes { Checksum(of: $0).value }
        let segment = deflate(bytes, by: SegmentDeflater(.default), isLast: true)
        for bit in 0..<(8 * segment.count) {
            var damaged = segment
            damaged[bit / 8] ^= 1 << (bit % 8)
            guard let got = inflate(damaged, size: bytes.count, isLast: true), got != bytes else {
                continue
            }
            #expect(got.withUnsafeBytes { Checksum(of: $0).value } != checksum)
        }
    }

    @Test(
        "Stored blocks are valid deflate data, with a header for each 65,535 bytes",
        arguments: [(0, 5), (1, 6), (65_535, 65_540), (65_536, 65_546), (131_070, 131_080)],
        [false, true]
    )
    func storedBlocks(sizes: (Int, Int), isLast: Bool) {
        let bytes = Shape.random.bytes(sizes.0)
        let blocks = stored(bytes, isLast: isLast)
        #expect(blocks.count == sizes.1)
        let isWhole = isSame(inflate(blocks, size: bytes.count, isLast: isLast), bytes)
        #expect(isWhole)
    }

    @Test("A checksum combined from parts is the checksum of the whole")
    func checksums() {
        let bytes = Shape.random.bytes(100_000)
        let whole = bytes.withUnsafeBytes { Checksum(of: $0).value }
        #expect(whole == bytes.withUnsafeBytes { crc32_z(0, $0.baseAddress, $0.count) }.low)
        var joined = Checksum()
        var appended = Checksum()
        for part in [bytes[..<1], bytes[1..<1], bytes[1..<70_000], bytes[70_000...]] {
            let value = part.withUnsafeBytes { Checksum(of: $0).value }
            joined.append(value, length: part.count)
            part.withUnsafeBytes { appended.append($0) }
        }
        #expect(joined.value == whole)
        #expect(appended.value == whole)
    }

    // MARK: - Help

    private func deflated(
        _ bytes: [UInt8],
        by deflater: SegmentDeflater,
        capacity: Int,
        isLast: Bool
    ) -> [UInt8]? {
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity + 1, alignment: 16)
        defer { output.deallocate() }
        guard let base = output.baseAddress else { return nil }
        output[capacity] = 0xA5
        let length = bytes.withUnsafeBytes {
            deflater.deflate($0, into: base, capacity: capacity, isLast: isLast)
        }
        #expect(output[capacity] == 0xA5, "it wrote behind its room")
        return length.map { [UInt8](copying: UnsafeRawBufferPointer(rebasing: output[..<$0])) }
    }

    /// Deflates a segment if that makes it smaller, else uses stored blocks, as the writer does.
    private func deflate(_ bytes: [UInt8], by deflater: SegmentDeflater, isLast: Bool) -> [UInt8] {
        if let shorter = deflated(bytes, by: deflater, capacity: bytes.count, isLast: isLast) {
            return shorter
        }
        return stored(bytes, isLast: isLast)
    }

    private func stored(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
        var blocks: [UInt8] = []
        let length = bytes.withUnsafeBytes {
            StoredBlocks.write($0, isLast: isLast) { blocks += [UInt8](copying: $0) }
        }
        #expect(length == blocks.count)
        return blocks
    }

    private func inflate(_ segment: [UInt8], size: Int, isLast: Bool) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0xA5, count: size)
        let isGood = bytes.withUnsafeMutableBytes { output in
            segment.withUnsafeBytes {
                SegmentInflater().inflate($0, into: output, isLast: isLast)
            }
        }
        return isGood ? bytes : nil
    }

    private func zlibInflate(_ stream: [UInt8], size: Int) -> [UInt8]? {
        var input = stream
        var bytes = [UInt8](repeating: 0, count: size + 1)
        var state = z_stream()
        inflateInit2_(&state, -15, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
        defer { inflateEnd(&state) }
        let status = input.withUnsafeMutableBufferPointer { input in
            bytes.withUnsafeMutableBufferPointer { output in
                state.next_in = input.baseAddress
                state.avail_in = UInt32(input.count)
                state.next_out = output.baseAddress
                state.avail_out = UInt32(output.count)
                return CZlib.inflate(&state, Z_FINISH)
            }
        }
        guard status == Z_STREAM_END, state.avail_in == 0, state.avail_out == 1 else { return nil }
        return bytes.dropLast()
    }
}

extension UInt {
    fileprivate var low: UInt32 { UInt32(truncatingIfNeeded: self) }
}
