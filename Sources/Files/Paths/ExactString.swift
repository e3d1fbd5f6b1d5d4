/// A text compared by its bytes: a name, or a key.
///
/// Swift treats canonically equivalent texts as equal: "é" as one scalar, and as two. File systems, SQLite and archives
/// treat them as different names.
public struct ExactString: Hashable, Comparable, Sendable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    public let text: String

    public init(_ text: some StringProtocol) { self.text = String(text) }

    public init(stringLiteral text: String) { self.text = text }

    public var description: String { text }

    /// Returns whether the text begins with the bytes of another.
    public func hasPrefix(_ prefix: ExactString) -> Bool {
        text.utf8.starts(with: prefix.text.utf8)
    }

    public static func == (left: ExactString, right: ExactString) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    public static func < (left: ExactString, right: ExactString) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        let isCombined: Void? = text.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isCombined == nil { for byte in text.utf8 { hasher.combine(byte) } }
        hasher.combine(0xFF as UInt8)
    }
}

extension ExactString: Codable {
    public init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(text)
    }
}

extension StringProtocol {
    /// The text as an `ExactString`, to compare it or to use it as a key.
    public var exact: ExactString { ExactString(self) }
}
