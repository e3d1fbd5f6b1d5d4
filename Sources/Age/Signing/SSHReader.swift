internal import Foundation

/// A reader of SSH's data types: numbers, and strings with a length prefix (RFC 4251, section 5).
struct SSHReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Returns a number; `nil` at the end.
    mutating func number() -> Int? {
        guard rest.count >= 4 else { return nil }
        defer { rest = rest.dropFirst(4) }
        return rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns a string; `nil` if it is incomplete.
    mutating func string() -> ArraySlice<UInt8>? {
        guard let count = number(), rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Returns bytes with their length prefix.
    static func string(_ bytes: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { Array($0) } + bytes
    }

    /// Reads a string, and returns whether it is the supported kind of key.
    mutating func readKind() -> Bool {
        string()?.elementsEqual(SSHPublicKey.kind.utf8) ?? false
    }
}

/// The text form of OpenSSH's keys and signatures: base 64 between two lines.
struct SSHArmor {
    /// The length of a base 64 line, as in `ssh-keygen`'s output.
    private static let lineLength = 70

    let begin: String
    let end: String

    /// Creates an armor whose lines name its content.
    init(_ content: String) {
        (begin, end) = ("-----BEGIN \(content)-----", "-----END \(content)-----")
    }

    /// Returns the text, which ends with a line break.
    func text(_ bytes: [UInt8]) -> String {
        var rest = Data(bytes).base64EncodedString()[...]
        var lines = [begin]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(Self.lineLength)))
            rest = rest.dropFirst(Self.lineLength)
        }
        return (lines + [end, ""]).joined(separator: "\n")
    }

    /// Returns the bytes in a text; `nil` if the first or the last line is another one.
    func bytes(of lines: [String]) -> [UInt8]? {
        guard lines.first == begin, lines.last == end else { return nil }
        return Data(base64Encoded: lines.dropFirst().dropLast().joined()).map { Array($0) }
    }
}
