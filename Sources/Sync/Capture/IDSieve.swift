internal import Changes

/// A set of very many ids in little memory, a Bloom filter: it may take another id for one of its own.
///
/// It answers for a search in a large table, which is then made for few.
struct IDSieve {
    /// 2²⁵ bits: of a million ids it is wrong about four in a thousand others, of ten million about a fifth.
    private static let bits: UInt64 = 1 << 25
    private var words: [UInt64] = []

    mutating func insert(_ id: RowID) {
        if words.isEmpty { words = Array(repeating: 0, count: Int(Self.bits / 64)) }
        set(id.high % Self.bits)
        set(id.low % Self.bits)
    }

    /// Whether an id may be in it; one that was inserted is.
    func mayHave(_ id: RowID) -> Bool {
        // Ids are hashes or random, so that their own bits scatter.
        !words.isEmpty && has(id.high % Self.bits) && has(id.low % Self.bits)
    }

    private mutating func set(_ bit: UInt64) { words[Int(bit / 64)] |= 1 << (bit % 64) }

    private func has(_ bit: UInt64) -> Bool { words[Int(bit / 64)] >> (bit % 64) & 1 == 1 }
}
