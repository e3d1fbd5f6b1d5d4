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
        tiled(count) { random, tile in
            for index in stride(from: 0, to: tile.count - 7, by: 8) {
                tile.storeBytes(of: random.next(), toByteOffset: index, as: UInt64.self)
            }
        }
    }

    /// Bytes that compress to about a third, as text does.
    public mutating func text(_ count: Int) -> [UInt8] {
        let words = ["milk ", "eggs ", "bread ", "butter ", "apples ", "2 kg ", "oats\n", "tea\n"]
        return tiled(count) { random, tile in
            var index = 0
            while index < tile.count {
                let word = words[Int(random.next() & 7)].utf8.prefix(tile.count - index)
                UnsafeMutableRawBufferPointer(rebasing: tile[index...]).copyBytes(from: word)
                index += word.count
            }
        }
    }

    /// Repeats a part that is longer than deflate looks back, and whose length is prime.
    ///
    /// So no two segments are the same; and making every byte again would take seconds without
    /// optimization.
    private mutating func tiled(
        _ count: Int,
        _ fill: (inout Pseudorandom, UnsafeMutableRawBufferPointer) -> Void
    ) -> [UInt8] {
        var tile = [UInt8](repeating: UInt8(truncatingIfNeeded: next()), count: 65_521)
        tile.withUnsafeMutableBytes { fill(&self, $0) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            bytes.append(contentsOf: tile[..<Swift.min(tile.count, count - bytes.count)])
        }
        return bytes
    }
}
