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
