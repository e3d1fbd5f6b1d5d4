public import SystemPackage

/// Returns a path as text that is safe to print.
///
/// Control characters and bytes that are not UTF-8 are escaped as `\n` or `\xFF`, so that a hostile name
/// cannot drive a terminal.
public func printable(_ path: FilePath) -> String {
    path.withPlatformString {
        printable(bytes: UnsafeRawBufferPointer(start: $0, count: path.length))
    }
}

/// Returns bytes as text that is safe to print; see `printable(_:)`.
public func printable(bytes: some Collection<UInt8>) -> String {
    // Nearly all names are ASCII, and asking Unicode about each letter of a long list takes time.
    if bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) {
        return String(decoding: bytes, as: UTF8.self)
    }
    var text = ""
    for scalar in String(validating: bytes, as: UTF8.self)?.unicodeScalars ?? "".unicodeScalars {
        if scalar.properties.generalCategory == .control || scalar.properties.isBidiControl {
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
