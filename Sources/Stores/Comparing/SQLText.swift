internal import CSQLite
internal import Files

/// A formatter of values as SQL that yields the same class and bytes in every version of SQLite.
final class SQLText {
    private let scratch: ScratchDatabase
    /// The statement with which SQLite parses a number; for some numbers the result is off by one bit.
    private let reading: Statement

    /// Opens a database in memory for trying out numbers.
    ///
    /// - Throws: `StoreError` if SQLite has no memory for it.
    init() throws {
        scratch = try ScratchDatabase(name: "literals")
        reading = try scratch.prepare("SELECT CAST(?1 AS REAL)")
    }

    /// Returns a value as an expression.
    ///
    /// - Throws: `StoreError`.
    func expression(_ value: StoredValue) throws -> String {
        switch value {
        case .real(let bits): return try expression(ofReal: bits)
        case .text(let bytes): return bytes.string.map(Self.expression(of:)) ?? value.sqlLiteral
        default: return value.sqlLiteral
        }
    }

    /// Returns a text as literals, with calls of `char` for characters that are not safe to print.
    ///
    /// SQLite's parser ends at a NUL, so a single literal does not do. A cast blob would have another encoding in a
    /// store with UTF-16.
    private static func expression(of text: String) -> String {
        var parts: [String] = []
        var run = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard !scalar.isPrintable else {
                run.append(scalar)
                continue
            }
            if !run.isEmpty { parts.append(String(run).sqlLiteral) }
            run = String.UnicodeScalarView()
            parts.append("char(\(scalar.value))")
        }
        if !run.isEmpty || parts.isEmpty { parts.append(String(run).sqlLiteral) }
        return parts.count == 1 && parts[0].hasPrefix("'")
            ? parts[0] : "(\(parts.joined(separator: " || ")))"
    }

    private func expression(ofReal bits: UInt64) throws -> String {
        let number = Double(bitPattern: bits)
        guard number.isFinite, number != 0 else { return StoredValue.real(bits: bits).sqlLiteral }
        let text = String(number)
        try reading.bind(text, at: 1)
        defer { reading.reset() }
        guard try reading.step(), reading.realBits(0) == bits else {
            return Self.exact(number)
        }
        return text
    }

    /// Returns a number as products or quotients of whole numbers, each of which SQLite reads exactly.
    static func exact(_ number: Double) -> String {
        var significand = number.significand * 0x1p52
        var exponent = Int(number.exponent) - 52
        while significand.truncatingRemainder(dividingBy: 2) == 0 {
            significand /= 2
            exponent += 1
        }
        var text = "(\(number < 0 ? "-" : "")\(Int64(significand)) * 1.0"
        while exponent != 0 {
            let step = min(abs(exponent), 50)
            text += exponent > 0 ? " * \(Int64(1) << step)" : " / \(Int64(1) << step)"
            exponent += exponent > 0 ? -step : step
        }
        return text + ")"
    }
}
