internal import Foundation

/// A text that is looked for in others, as people type it: capital and small letters are the same.
///
/// Of letters beyond ASCII that holds, too, and one that is put together from a letter and its accent is the same
/// as the one that is both. All else is taken as it is: `%` and `_` stand for themselves.
public struct TextPattern: Sendable {
    /// In small letters.
    private let bytes: [UInt8]
    private let isASCII: Bool

    /// Takes a text; `nil` if it is empty, which is in every text.
    public init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        bytes = Array(Self.folded(text).utf8)
        isASCII = bytes.allSatisfy { $0 < 0x80 }
    }

    /// Returns whether the text is in another; of bytes that are no UTF-8 what is readable counts.
    public func isFound(in other: UnsafeRawBufferPointer) -> Bool {
        if isASCII { return isPart(of: other) }
        guard other.contains(where: { $0 >= 0x80 }) else { return false }
        let text = Self.folded(String(decoding: other, as: UTF8.self))
        return Array(text.utf8).withUnsafeBytes { isPart(of: $0) }
    }

    private static func folded(_ text: String) -> String {
        text.lowercased().precomposedStringWithCanonicalMapping
    }

    /// Returns whether the bytes are there, whatever the case of ASCII letters.
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
