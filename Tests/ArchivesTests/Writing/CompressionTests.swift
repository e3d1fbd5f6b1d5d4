internal import Archives
internal import Testing

@Suite("Compression")
struct CompressionTests {
    @Test(
        "a file is cut into segments of one MiB and a rest",
        arguments: [
            (0, []), (1, [1]), (1 << 20, [1 << 20]), ((1 << 20) + 1, [1 << 20, 1]),
            (3 << 20, [1 << 20, 1 << 20, 1 << 20]),
        ] as [(Int64, [Int])]
    )
    func segments(size: Int64, lengths: [Int]) {
        let count = Segment.count(forSize: size)
        #expect((0..<count).map { Segment.length(at: $0, ofSize: size) } == lengths)
    }
}
