/// Random numbers that are the same in every run: SplitMix64 (Steele, Lea, Flood 2014).
public struct Pseudorandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// Bytes that no compressor makes smaller.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            var index = 0
            while index < count {
                var value = next()
                for _ in 0..<Swift.min(8, count - index) {
                    buffer[index] = UInt8(truncatingIfNeeded: value)
                    value >>= 8
                    index += 1
                }
            }
            initialized = count
        }
    }

    /// Bytes that compress to about a third, as text does.
    public mutating func text(_ count: Int) -> [UInt8] {
        let words = ["milk ", "eggs ", "bread ", "butter ", "apples ", "2 kg ", "oats\n", "tea\n"]
            .map { Array($0.utf8) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            var value = next()
            for _ in 0..<16 {
                bytes += words[Int(value & 7)]
                value >>= 4
            }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
