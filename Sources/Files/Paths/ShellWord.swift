public import SystemPackage

/// Returns any text as one word of a shell command.
///
/// A name of letters, digits and spaces is put into single quotes. Other characters with a meaning for shells get a
/// backslash, and unprintable ones are written as `$'\xFF'` (bash, zsh, ksh). So the word remains one word even if a
/// message's quotes around the whole command are copied with it.
public func shellWord(_ text: String) -> String { shellWord(bytes: text.utf8) }

/// Returns a path as one word of a shell command that no program mistakes for an option.
public func shellWord(_ path: FilePath) -> String {
    path.withPlatformString {
        let bytes = UnsafeRawBufferPointer(start: $0, count: path.length)
        return (bytes.first == UInt8(ascii: "-") ? "./" : "") + shellWord(bytes: bytes)
    }
}

/// Returns bytes as one word of a shell command; see `shellWord(_:)`.
public func shellWord(bytes: some Collection<UInt8>) -> String {
    guard !bytes.isEmpty else { return "''" }
    guard let text = String(validating: bytes, as: UTF8.self) else {
        return bytes.map { $0 < 0x80 ? piece(Unicode.Scalar($0)) : escape([$0]) }.joined()
    }
    let isHarmless = text.unicodeScalars.allSatisfy { scalar in
        scalar.isASCII
            ? UInt8(ascii: scalar).isOfPlainWord || " []()=".unicodeScalars.contains(scalar)
            : scalar.isPrintable
    }
    if text.utf8.allSatisfy(\.isOfPlainWord) { return text }
    return isHarmless ? "'\(text)'" : text.unicodeScalars.map(piece).joined()
}

/// Returns a shell command that moves a file away, to a name that nothing has.
public func moveAway(_ path: FilePath) -> String {
    let names = (1...).lazy.map { path.derived($0 == 1 ? ".old" : ".old\($0)") }
    let free = names.first { (try? FileInfo.ifPresent($0)) == .some(nil) } ?? path.derived(".old")
    return "mv \(shellWord(path)) \(shellWord(free))"
}

private func piece(_ scalar: Unicode.Scalar) -> String {
    guard scalar.isPrintable else { return escape(scalar.utf8) }
    let isPlain = !scalar.isASCII || UInt8(ascii: scalar).isOfPlainWord
    return isPlain ? String(scalar) : "\\\(scalar)"
}

private func escape(_ bytes: some Sequence<UInt8>) -> String {
    let digits = bytes.map { byte in
        "\\x" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    return "$'\(digits.joined())'"
}

extension UInt8 {
    /// Whether the byte has no special meaning in any shell.
    fileprivate var isOfPlainWord: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "._-/:@%+,".utf8.contains(self)
        }
    }
}
