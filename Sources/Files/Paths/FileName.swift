/// One component of a path, as bytes: never empty, `.` or `..`, without `/` and NUL.
public struct FileName: Hashable, Sendable, Comparable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    public let bytes: [UInt8]

    init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Makes a name of a literal, which must be one good component.
    public init(stringLiteral text: StaticString) {
        self.init(unchecked: text.withUTF8Buffer { Array($0) })
    }

    /// Returns the name with more text at its end.
    public func appending(_ suffix: String) -> FileName {
        appending(Array(suffix.utf8)[...])
    }

    /// Returns the name with part of another at its end.
    public func appending(_ suffix: ArraySlice<UInt8>) -> FileName {
        FileName(unchecked: bytes + suffix)
    }

    /// Escaped for printing.
    public var description: String { printable(bytes: bytes) }

    public static func < (left: FileName, right: FileName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// Calls `body` with the name as a C string.
    func withCString<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
        // A name is at most 255 bytes, so this stays on the stack.
        try withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
            for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
            buffer[bytes.count] = 0
            guard let start = buffer.baseAddress else {
                preconditionFailure("a buffer with room for the NUL has an address")
            }
            return try body(UnsafePointer(start))
        }
    }
}
