public import SystemPackage

/// Returns a path as text that is safe to print.
///
/// Terminal control characters and bytes that are not UTF-8 are escaped as `\n` or `\xFF`; see
/// `Unicode.Scalar.isPrintable`.
public func printable(_ path: FilePath) -> String {
    path.withPlatformString {
        printable(bytes: UnsafeRawBufferPointer(start: $0, count: path.length))
    }
}

/// Returns bytes as text that is safe to print; see `printable(_:)`.
public func printable(bytes: some Collection<UInt8>) -> String {
    // Nearly all names are ASCII, and Unicode lookups for each letter of a long list take time.
    if bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) {
        return String(decoding: bytes, as: UTF8.self)
    }
    var text = ""
    for scalar in String(validating: bytes, as: UTF8.self)?.unicodeScalars ?? "".unicodeScalars {
        if !scalar.isPrintable {
            text += scalar == "\n" ? "\\n" : "\\u{\(String(scalar.value, radix: 16))}"
        } else {
            text.unicodeScalars.append(scalar)
        }
    }
    guard text.isEmpty else { return text }
    for byte in bytes {
        if (0x20..<0x7F).contains(byte) {
            text.unicodeScalars.append(Unicode.Scalar(byte))
        } else {
            let digits = String(byte, radix: 16, uppercase: true)
            text += "\\x" + (digits.count == 1 ? "0" : "") + digits
        }
    }
    return text
}

/// Returns the bytes of a name or path as text that no other name or path has: a backslash is printed twice.
func printable(uniquely bytes: [UInt8]) -> String {
    let backslash = UInt8(ascii: "\\")
    guard bytes.contains(backslash) else { return printable(bytes: bytes) }
    return printable(bytes: bytes.flatMap { $0 == backslash ? [$0, $0] : [$0] })
}

/// Returns the bytes of a name or path that is printed like this; `nil` if none is.
func bytes(printedAs text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
        guard scalar == "\\" else {
            bytes += Array(String(scalar).utf8)
            continue
        }
        switch rest.popFirst() {
        case "\\": bytes.append(UInt8(ascii: "\\"))
        case "n": bytes.append(UInt8(ascii: "\n"))
        case "x":
            guard let byte = UInt8(String(rest.prefix(2)), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        case "u":
            guard rest.popFirst() == "{", let end = rest.firstIndex(of: "}"),
                let value = UInt32(String(rest[..<end]), radix: 16),
                let scalar = Unicode.Scalar(value)
            else { return nil }
            bytes += Array(String(scalar).utf8)
            rest = rest[rest.index(after: end)...]
        default: return nil
        }
    }
    return bytes
}

extension Unicode.Scalar {
    /// Whether it can be printed safely: it is no control character, ends no line, and does not reverse text.
    ///
    /// This single rule applies to text, JSON, SQL and commands, so that a malicious name cannot control a terminal.
    public var isPrintable: Bool {
        if isASCII { return value >= 0x20 && value != 0x7F }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return false
        default: return !properties.isBidiControl
        }
    }
}

extension String {
    /// The JSON text with all unsafe characters escaped; see `isPrintable`.
    ///
    /// Line breaks between its parts are kept.
    public var printableJSON: String {
        // Nearly all of it is ASCII, in which the encoder leaves only DEL unescaped.
        if utf8.allSatisfy({ $0 < 0x7F }) { return self }
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar.isPrintable || scalar == "\n" {
                text.append(scalar)
            } else {
                for unit in scalar.utf16 {
                    let digits = String(unit, radix: 16)
                    let zeros = String(repeating: "0", count: 4 - digits.count)
                    text.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
                }
            }
        }
        return String(text)
    }
}
