/// Deflate without a container (RFC 1951), for data that is small enough to be in memory.
public enum RawDeflate {
    /// Deflates bytes to one stream.
    ///
    /// - Returns: the stream; the bytes in stored blocks if nothing makes them smaller.
    public static func deflate(
        _ input: UnsafeRawBufferPointer,
        _ compression: Compression = .default
    ) -> [UInt8] {
        let room = input.count + 5 * (input.count / 65_535 + 1) + 512
        return [UInt8](unsafeUninitializedCapacity: room) { output, count in
            let deflater = SegmentDeflater(compression == .none ? .fast : compression)
            guard let place = output.baseAddress else { return }
            count = deflater.deflate(input, into: place, capacity: room, isLast: true) ?? 0
            if count == 0 { count = store(input, into: UnsafeMutableRawBufferPointer(output)) }
        }
    }

    /// Deflates bytes that are written once and fetched by many: a few as small as can be, and many as fast
    /// as they are then still within two percent of that.
    public static func deflateForMany(_ input: UnsafeRawBufferPointer) -> [UInt8] {
        deflate(input, input.count > 256 << 10 ? .default : .best)
    }

    /// Fills a buffer with what a stream inflates to.
    ///
    /// - Returns: whether that is all: the input used, the buffer full, and the stream ended. If not, the
    ///   buffer may hold a part.
    public static func inflate(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        SegmentInflater().inflate(input, into: output, isLast: true)
    }

    /// Inflates a stream whose length nobody tells.
    ///
    /// - Returns: `nil` if it is no whole stream, or longer than `limit` bytes.
    public static func inflate(_ input: UnsafeRawBufferPointer, limit: Int) -> [UInt8]? {
        let inflater = SegmentInflater()
        inflater.startStream()
        var output: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        var rest = input
        while true {
            let step = part.withUnsafeMutableBytes { inflater.inflatePart(rest, into: $0) }
            guard let step, output.count + step.given <= limit else { return nil }
            output += part[..<step.given]
            if step.finished { return output }
            // Without either, it would go on for ever: the stream is cut.
            guard step.taken > 0 || step.given > 0 else { return nil }
            rest = UnsafeRawBufferPointer(rebasing: rest[step.taken...])
        }
    }

    /// Writes stored blocks, and returns their length.
    private static func store(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        var from = 0
        var place = 0
        repeat {
            let length = min(65_535, input.count - from)
            let isLast = from + length == input.count
            let low = UInt8(length & 0xFF)
            let high = UInt8(length >> 8)
            for byte in [isLast ? 1 : 0, low, high, ~low, ~high] {
                output[place] = byte
                place += 1
            }
            UnsafeMutableRawBufferPointer(rebasing: output[place..<place + length])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: input[from..<from + length]))
            place += length
            from += length
        } while from < input.count
        return place
    }
}
