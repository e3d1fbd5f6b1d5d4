internal import Archives
internal import TestSupport
internal import Testing

@Suite("Deflate in memory")
struct RawDeflateTests {
    @Test(
        "Bytes survive deflating and inflating, whether they shrink or not",
        arguments: [Compression.fast, .default, .best, .none],
        [0, 1, 100, 65_535, 65_536, 200_000]
    )
    func roundTrip(compression: Compression, size: Int) {
        var random = Pseudorandom(seed: UInt64(size))
        for bytes in [random.bytes(size), random.text(size)] {
            let deflated = bytes.withUnsafeBytes { RawDeflate.deflate($0, compression) }
            #expect(deflated.count <= size + 5 * (size / 65_535 + 1) + 512)
            #expect(inflate(deflated, to: size) == bytes)
            if size > 0 { #expect(inflate(deflated, to: size - 1) == nil) }
            #expect(inflate(deflated, to: size + 1) == nil)
            #expect(inflate(deflated + [0], to: size) == nil)
            #expect(inflate(deflated.dropLast(), to: size) == nil)
        }
    }

    private func inflate(_ bytes: [UInt8], to size: Int) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: size)
        let isWhole = output.withUnsafeMutableBytes { output in
            bytes.withUnsafeBytes { RawDeflate.inflate($0, into: output) }
        }
        return isWhole ? output : nil
    }
}
