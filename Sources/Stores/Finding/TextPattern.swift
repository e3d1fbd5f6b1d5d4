internal import Foundation

/// A text to search for in other texts, regardless of case; or a whole text, byte for byte.
///
/// Case is disregarded for letters beyond ASCII, too. A letter with a combining accent equals the precomposed letter. `%` and
/// `_` have no special meaning.
public struct TextPattern: Sendable {
    /// The text's UTF-8; unless it is a whole text, in lower case and precomposed.
    private let bytes: [UInt8]
    private let isASCII: Bool
    private let isWhole: Bool

    /// Takes a text; `nil` if it is empty, since every text contains it.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - isWhole: whether only this text itself is found, as it is.
    public init?(_ text: String, isWhole: Bool = false) {
        guard !text.isEmpty else { return nil }
        self.isWhole = isWhole
        bytes = Array((isWhole ? text : Self.folded(text)).utf8)
        isASCII = bytes.allSatisfy { $0 < 0x80 }
    }

    /// Returns whether another text contains this one; of bytes that are not UTF-8, the readable part counts.
    public func isFound(in other: UnsafeRawBufferPointer) -> Bool {
        if isWhole { return other.elementsEqual(bytes) }
        if isASCII { return isPart(of: other) }
        guard other.contains(where: { $0 >= 0x80 }) else { return false }
        let text = Self.folded(String(decoding: other, as: UTF8.self))
        return Array(text.utf8).withUnsafeBytes { isPart(of: $0) }
    }

    private static func folded(_ text: String) -> String {
        text.lowercased().precomposedStringWithCanonicalMapping
    }

    /// Returns whether the bytes contain the pattern, regardless of the case of ASCII letters.
    private func isPart(of other: UnsafeRawBufferPointer) -> Bool {
        guard other.count >= bytes.count, let first = bytes.first else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            for start in 0...(other.count - bytes.count) where Self.small(other[start]) == first {
                var length = 1
                while length < bytes.count, Self.small(other[start + length]) == bytes[length] {
                    length += 1
                }
                if length == bytes.count { return true }
            }
            return false
        }
    }

    private static func small(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }
}
