/// The field of Curve25519, used only to convert a public Ed25519 key to X25519's form.
///
/// It handles no secrets, so it need not run in constant time.
struct CurveField: Equatable {
    /// The number, below 2²⁵⁶, the lowest word first; several numbers represent the same element.
    private var words: [UInt64]

    private init(words: [UInt64]) {
        self.words = words
    }

    private init(_ number: UInt64) {
        words = [number, 0, 0, 0]
    }

    private init(littleEndian bytes: [UInt8]) {
        words = (0..<4).map { word in
            (0..<8).reduce(0) { $0 | UInt64(bytes[8 * word + $1]) << UInt64(8 * $1) }
        }
    }

    /// 2²⁵⁵ − 19.
    private static let prime = CurveField(
        words: [UInt64.max - 18, .max, .max, .max >> 1]
    )

    /// The constant of the curve.
    private static let constant = CurveField(
        words: [
            0x75eb_4dca_1359_78a3, 0x0070_0a4d_4141_d8ab, 0x8cc7_4079_7779_e898,
            0x5203_6cee_2b6f_fe73,
        ]
    )

    /// Returns the Montgomery form of a point, (1 + y) / (1 − y); `nil` if the bytes are no point of the curve.
    ///
    /// - Parameter bytes: 32 bytes in Ed25519's form (RFC 8032).
    /// - Returns: 32 bytes in X25519's form (RFC 7748).
    static func montgomery(ofEdwards bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count == 32 else { return nil }
        var bytes = bytes
        bytes[31] &= 0x7F
        let y = CurveField(littleEndian: bytes)
        let one = CurveField(1)
        // y² − 1 = x² (d y² + 1) has a solution if the product of both is a square.
        let square = y * y
        let product = (square - one) * (constant * square + one)
        guard y.isReduced, y != one, product.isSquare else { return nil }
        return ((one + y) * (one - y).inverse).bytes
    }

    private var isReduced: Bool { self == reduced }

    /// Whether it is a square, by Euler's criterion; zero counts as one.
    private var isSquare: Bool {
        // (p − 1) / 2 = 2²⁵⁴ − 10
        let power = power([UInt64.max - 9, .max, .max, .max >> 2]).reduced
        return power == CurveField(1) || power == CurveField(0)
    }

    /// The inverse by Fermat: the power p − 2.
    private var inverse: CurveField { power([UInt64.max - 20, .max, .max, .max >> 1]) }

    private var bytes: [UInt8] {
        reduced.words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
    }

    private func power(_ exponent: [UInt64]) -> CurveField {
        var (result, base) = (CurveField(1), self)
        for bit in 0..<256 {
            if exponent[bit / 64] >> UInt64(bit % 64) & 1 == 1 { result = result * base }
            base = base * base
        }
        return result
    }

    /// The only representation below p.
    private var reduced: CurveField {
        var value = self
        while true {
            var words = value.words
            var borrow: UInt64 = 0
            for index in 0..<4 {
                let (first, under) = words[index].subtractingReportingOverflow(
                    Self.prime.words[index]
                )
                let (second, again) = first.subtractingReportingOverflow(borrow)
                words[index] = second
                borrow = under || again ? 1 : 0
            }
            if borrow == 1 { return value }
            value = CurveField(words: words)
        }
    }

    fileprivate static func + (left: CurveField, right: CurveField) -> CurveField {
        var sum = left.words + [0]
        for index in 0..<4 { add(right.words[index], to: &sum, at: index) }
        return folded(sum + [0, 0, 0])
    }

    fileprivate static func - (left: CurveField, right: CurveField) -> CurveField {
        // p − 1 represents −1.
        left + CurveField(words: [UInt64.max - 19, .max, .max, .max >> 1]) * right
    }

    fileprivate static func * (left: CurveField, right: CurveField) -> CurveField {
        var product = [UInt64](repeating: 0, count: 8)
        for (index, word) in left.words.enumerated() {
            for (other, factor) in right.words.enumerated() {
                let (high, low) = word.multipliedFullWidth(by: factor)
                add(low, to: &product, at: index + other)
                add(high, to: &product, at: index + other + 1)
            }
        }
        return folded(product)
    }

    /// Adds the upper half to the lower one, since 2²⁵⁶ is congruent to 38.
    private static func folded(_ words: [UInt64]) -> CurveField {
        var sum = Array(words[..<4]) + [0]
        for index in 0..<4 {
            let (high, low) = words[index + 4].multipliedFullWidth(by: 38)
            add(low, to: &sum, at: index)
            add(high, to: &sum, at: index + 1)
        }
        while sum[4] > 0 {
            let over = sum[4] * 38
            sum[4] = 0
            add(over, to: &sum, at: 0)
        }
        return CurveField(words: Array(sum[..<4]))
    }

    private static func add(_ word: UInt64, to words: inout [UInt64], at index: Int) {
        var (carry, index) = (word, index)
        while carry > 0 {
            let (sum, over) = words[index].addingReportingOverflow(carry)
            words[index] = sum
            carry = over ? 1 : 0
            index += 1
        }
    }
}
