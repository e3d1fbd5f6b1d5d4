/// A scanner of ASCII text of a fixed form.
///
/// A regular expression takes longer to compile than a thousand names take to scan.
package struct TextScanner {
    private var rest: Substring.UTF8View

    package init(_ text: String) { rest = Substring(text).utf8 }

    package var isAtEnd: Bool { rest.isEmpty }
    /// The text that has not been consumed.
    package var remainder: String { String(decoding: rest, as: UTF8.self) }

    /// Consumes a text; returns `false` and consumes nothing if another text follows.
    package mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    /// Consumes one of some texts, and returns its index.
    package mutating func take(oneOf texts: [String]) -> Int? {
        for (index, text) in texts.enumerated() where take(text) { return index }
        return nil
    }

    /// Consumes decimal digits, as many as possible within the range.
    ///
    /// The range must lie within 1 to 18.
    package mutating func number(digits: ClosedRange<Int>) -> Int? {
        let found = rest.prefix(digits.upperBound).prefix { (0x30...0x39).contains($0) }
        guard digits.contains(found.count) else { return nil }
        rest = rest.dropFirst(found.count)
        return found.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Consumes exactly this number of decimal digits.
    package mutating func number(digits: Int) -> Int? { number(digits: digits...digits) }
}
