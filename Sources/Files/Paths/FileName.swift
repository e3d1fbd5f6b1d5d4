public import SystemPackage

/// One component of a path, as bytes: never empty, `.` or `..`, and without `/` and NUL.
public struct FileName: Hashable, Sendable, Comparable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    public let bytes: [UInt8]

    init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Creates a name from a literal, which must be one valid component.
    public init(stringLiteral text: StaticString) {
        self.init(unchecked: text.withUTF8Buffer { Array($0) })
    }

    /// Returns the name with more text at the end.
    public func appending(_ suffix: String) -> FileName {
        appending(Array(suffix.utf8)[...])
    }

    /// Returns the name with part of another at the end.
    public func appending(_ suffix: ArraySlice<UInt8>) -> FileName {
        FileName(unchecked: bytes + suffix)
    }

    /// The maximum length of a name in bytes (NAME_MAX of all usual file systems).
    public static let longest = 255

    /// Returns a related name, with a text before and behind this one.
    ///
    /// A name that is too long for that is shortened to whole characters, and gets a digest that distinguishes it from
    /// others.
    ///
    /// - Parameters:
    ///   - suffix: the text behind the name.
    ///   - prefix: the text before the name.
    ///   - room: the number of bytes to reserve for further additions.
    /// - Returns: the same name each time.
    public func derived(_ suffix: String, prefix: String = "", room: Int = 0) -> FileName {
        let limit = Self.longest - room - prefix.utf8.count - suffix.utf8.count
        guard bytes.count > limit else {
            return FileName(unchecked: Array(prefix.utf8)).appending(bytes[...]).appending(suffix)
        }
        let mark = "~" + bytes.withUnsafeBytes { "\(Digest(of: $0))" }.prefix(8)
        let start = bytes.prefix(max(0, limit - mark.utf8.count)).wholeCharacters
        return FileName(unchecked: Array(prefix.utf8) + start + Array((mark + suffix).utf8))
    }

    /// The name, escaped for printing; no other has the same text.
    public var description: String { printable(uniquely: bytes) }

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

extension ArraySlice<UInt8> {
    /// The bytes without an incomplete UTF-8 character at the end.
    fileprivate var wholeCharacters: ArraySlice<UInt8> {
        guard let last = lastIndex(where: { $0 & 0xC0 != 0x80 }), self[last] >= 0xC0 else {
            return self
        }
        let length = self[last] >= 0xF0 ? 4 : self[last] >= 0xE0 ? 3 : 2
        return endIndex - last < length ? self[..<last] : self
    }
}

extension FilePath {
    /// Returns the path of a related name in the same directory; see `FileName.derived`.
    public func derived(_ suffix: String, prefix: String = "", room: Int = 0) -> FilePath {
        let derived = (fileName ?? "file").derived(suffix, prefix: prefix, room: room)
        return RelativePath(name: derived).below(removingLastComponent())
    }

    /// The last component as bytes; `nil` for a path without one, or one that ends in `.` or `..`.
    public var fileName: FileName? {
        guard let component = lastComponent, component.kind == .regular else { return nil }
        return component.withPlatformString { start in
            let length = FilePath(root: nil, [component]).length
            return FileName(unchecked: Array(UnsafeRawBufferPointer(start: start, count: length)))
        }
    }
}
