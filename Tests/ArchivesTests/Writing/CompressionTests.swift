@testable internal import Archives
internal import TestSupport
internal import Testing

@Suite("Compression")
struct CompressionTests {
    @Test(
        "A file is cut into segments of one MiB and a rest",
        arguments: [
            (0, []), (1, [1]), (1 << 20, [1 << 20]), ((1 << 20) + 1, [1 << 20, 1]),
            (3 << 20, [1 << 20, 1 << 20, 1 << 20]),
        ] as [(Int64, [Int])]
    )
    func segments(size: Int64, lengths: [Int]) {
        let count = Segment.count(forSize: size)
        #expect((0..<count).map { Segment.length(at: $0, ofSize: size) } == lengths)
    }

    private static let contents: [(name: String, bytes: [UInt8], mayShrink: Bool)] = [
        ("random", Shape.random.bytes(Segment.size), false),
        ("text", Shape.text.bytes(Segment.size), true),
        ("zeros at the end", Shape.random.bytes(900_000) + Shape.zeros.bytes(100_000), true),
        (
            "text in the middle",
            Shape.random.bytes(400_000) + Shape.text.bytes(250_000) + Shape.random.bytes(350_000),
            true
        ),
        (
            "repetitions of 6,000 random bytes",
            (0..<100).flatMap { _ in Shape.random.bytes(6_000) }, true
        ),
        ("random, but short", Shape.random.bytes(100_000), true),
    ]

    @Test("A sample of a segment predicts whether it shrinks", arguments: contents)
    func samples(content: (name: String, bytes: [UInt8], mayShrink: Bool)) {
        for compression in [Compression.fast, .default, .best] {
            let deflater = SegmentDeflater(compression)
            var space = [UInt8](repeating: 0, count: Segment.size)
            let mayShrink = content.bytes.withUnsafeBytes { bytes in
                space.withUnsafeMutableBytes { deflater.mayShrink(bytes, trying: $0) }
            }
            // The best compression tries every segment.
            #expect(mayShrink == (content.mayShrink || compression == .best), "\(content.name)")
        }
    }
}
