/// Raw deflate data (RFC 1951), small enough to be in memory.
public enum RawDeflate {
    /// Deflates bytes to one stream.
    ///
    /// - Returns: the stream, or the bytes in stored blocks if compression does not make them smaller.
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

    /// Deflates bytes that are written once and fetched by many.
    ///
    /// Short data gets the best compression; long data a faster one, whose result is at most two percent larger.
    public static func deflateForMany(_ input: UnsafeRawBufferPointer) -> [UInt8] {
        deflate(input, input.count > 256 << 10 ? .default : .best)
    }

    /// Inflates a stream into a buffer.
    ///
    /// - Returns: whether all input was used, the buffer is full, and the stream ended. Otherwise the buffer may hold a
    ///   part.
    public static func inflate(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        SegmentInflater().inflate(input, into: output, isLast: true)
    }

    /// Inflates a stream of unknown length.
    ///
    /// - Returns: `nil` if the stream is incomplete, or longer than `limit` bytes.
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
            // The stream is truncated if a step neither consumes nor writes a byte.
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
