internal import Foundation

/// How many random cases a test tries, and with which seeds.
///
/// `swift test` tries a few, always the same. `GROCERYDUDE_FUZZ=20000` tries that many, and
/// `GROCERYDUDE_FUZZ_SEED=n` begins with the seed n: a case that failed with the seed n is tried again,
/// alone, by `GROCERYDUDE_FUZZ=1 GROCERYDUDE_FUZZ_SEED=n`.
public struct Fuzzing: Sequence, Sendable {
    private let first: UInt64
    /// How many cases there are.
    public let count: Int

    /// Reads the environment.
    ///
    /// - Parameter usual: how many cases there are if it says nothing.
    public init(usual: Int) {
        let environment = ProcessInfo.processInfo.environment
        count = environment["GROCERYDUDE_FUZZ"].flatMap { Int($0) } ?? usual
        first = environment["GROCERYDUDE_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
    }

    /// The seeds, one for each case.
    public func makeIterator() -> AnyIterator<UInt64> {
        AnyIterator((0..<count).lazy.map { [first] in first &+ UInt64($0) }.makeIterator())
    }

    /// Prints how many cases had which outcome.
    public func report(_ name: String, _ verdicts: [String: Int]) {
        let counts = verdicts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        print("\(name): \(count) cases from seed \(first): \(counts.joined(separator: ", "))")
    }
}

extension Pseudorandom {
    /// One of the elements, which must not be none.
    public mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(next() % UInt64(elements.count))]
    }

    /// A number below a limit, which must be above 0.
    public mutating func below(_ limit: Int) -> Int {
        Int(next() % UInt64(limit))
    }

    /// A part of a collection's indices, of at most so many; empty only where the collection is.
    public mutating func range(in count: Int, atMost length: Int) -> Range<Int> {
        guard count > 0 else { return 0..<0 }
        let start = below(count)
        return start..<Swift.min(count, start + 1 + below(length))
    }

    /// Changes bytes in one of the ways in which disks, cables and people do.
    ///
    /// - Returns: what was done.
    public mutating func damage(_ bytes: inout [UInt8], within region: Range<Int>? = nil) -> String
    {
        guard !bytes.isEmpty else { return "nothing" }
        let region = region ?? bytes.indices
        func place(_ random: inout Pseudorandom, atMost length: Int) -> Range<Int> {
            let range = random.range(in: region.count, atMost: length)
            return (region.lowerBound + range.lowerBound)..<(region.lowerBound + range.upperBound)
        }
        let range = place(&self, atMost: 600)
        switch below(10) {
        case 0, 1, 2:
            bytes[range.lowerBound] ^= 1 << UInt8(below(8))
            return "a bit of \(range.lowerBound)"
        case 3:
            let count = 2 + below(7)
            for _ in 0..<count { bytes[place(&self, atMost: 1).lowerBound] ^= 1 << UInt8(below(8)) }
            return "\(count) bits"
        case 4:
            bytes[range.lowerBound] = pick([0, 1, 0x7F, 0x80, 0xFF, UInt8(below(256))])
            return "the byte \(range.lowerBound)"
        case 5:
            bytes.removeSubrange(range.lowerBound...)
            return "cut at \(range.lowerBound)"
        case 6:
            bytes.removeSubrange(range)
            return "without \(range)"
        case 7:
            bytes.insert(contentsOf: bytes[range], at: place(&self, atMost: 1).lowerBound)
            return "\(range) twice"
        case 8:
            for index in range { bytes[index] = 0 }
            return "zeros in \(range)"
        default:
            let source = place(&self, atMost: 1).lowerBound
            let part = Array(bytes[source..<Swift.min(bytes.count, source + range.count)])
            let end = Swift.min(bytes.count, range.lowerBound + part.count)
            bytes.replaceSubrange(range.lowerBound..<end, with: part)
            return "\(source) over \(range.lowerBound)"
        }
    }
}
