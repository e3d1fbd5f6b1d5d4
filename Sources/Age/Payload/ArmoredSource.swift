internal import Files
internal import Foundation
internal import SystemPackage

/// The bytes of an armored age file (`age -a`), readable at any offset.
///
/// The format is strict (https://age-encryption.org/v1, "ASCII armor"): 64 characters per line, fewer in the last. All
/// lines have the same ending. White space is allowed before the first line and behind the last.
struct ArmoredSource: ByteSource {
    private static let beginLine = "-----BEGIN AGE ENCRYPTED FILE-----"
    private static let endLine = "-----END AGE ENCRYPTED FILE-----"
    private static let lineBytes: Int64 = 48
    private static let lineCharacters: Int64 = 64
    /// The maximum number of bytes of white space on either side.
    private static let mostSpace = 1024

    let path: FilePath
    let size: Int64

    private let source: any ByteSource
    /// The offset of the first line of content.
    private let start: Int64
    /// The offset behind the characters of the last line of content.
    private let end: Int64
    private let lineEnd: [UInt8]

    /// Locates the content, and reads its last line.
    ///
    /// - Parameters:
    ///   - source: the text.
    ///   - path: the path for messages.
    /// - Throws: `AgeError.badArmor`; what the source throws.
    init(_ source: any ByteSource, named path: FilePath) throws {
        func fault(_ reason: String) -> AgeError { .badArmor(path, reason: reason) }
        let head = try Self.head(of: source)
        guard let first = Self.begin(in: head) else { throw fault("its first line is wrong") }
        let rest = head[first.upperBound...]
        guard let lineEnd = ["\n", "\r\n"].map({ Array($0.utf8) }).first(where: rest.starts(with:))
        else { throw fault("its first line is too long") }
        let start = Int64(first.upperBound + lineEnd.count)
        guard let end = try Self.end(of: source, from: start, lineEnd) else {
            throw fault("its last line is missing or wrong")
        }
        (self.path, self.source, self.start, self.end) = (path, source, start, end)
        self.lineEnd = lineEnd
        guard end > start else {
            size = 0
            return
        }
        let stride = Self.lineCharacters + Int64(lineEnd.count)
        let lines = (end - start + stride - 1) / stride
        let last = end - start - (lines - 1) * stride
        guard (1...Self.lineCharacters).contains(last) else { throw fault("a line is too short") }
        let text = try source.readExactly(count: Int(last), at: end - last)
        guard let bytes = Self.decoded(text) else { throw fault("its last line is not base64") }
        size = (lines - 1) * Self.lineBytes + Int64(bytes.count)
    }

    /// Returns whether a file looks like armored text: one of its first lines begins like an armor's.
    static func isMeant(_ source: any ByteSource) throws -> Bool {
        try head(of: source).split(separator: UInt8(ascii: "\n")).contains {
            $0.starts(with: "-----".utf8)
        }
    }

    /// Returns whether a file begins as such a text does.
    static func begins(_ source: any ByteSource) throws -> Bool {
        try begin(in: head(of: source)) != nil
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let wanted = (offset..<offset + Int64(buffer.count)).clamped(to: 0..<size)
        guard !wanted.isEmpty else { return 0 }
        let lines =
            wanted.lowerBound / Self.lineBytes...(wanted.upperBound - 1) / Self.lineBytes
        let stride = Self.lineCharacters + Int64(lineEnd.count)
        let from = start + lines.lowerBound * stride
        let text = try source.readExactly(
            count: Int(min(end, from + Int64(lines.count) * stride) - from),
            at: from
        )
        let bytes = try decoded(text, stride: Int(stride))
        let skipped = Int(wanted.lowerBound - lines.lowerBound * Self.lineBytes)
        guard bytes.count >= skipped + wanted.count else { throw notBase64 }
        buffer.copyBytes(from: bytes[skipped..<skipped + wanted.count])
        return wanted.count
    }

    // MARK: - Reading

    /// Decodes lines; the last one may have no ending.
    private func decoded(_ text: [UInt8], stride: Int) throws -> [UInt8] {
        var characters: [UInt8] = []
        characters.reserveCapacity(text.count)
        for place in Swift.stride(from: 0, to: text.count, by: stride) {
            let line = text[place..<min(place + stride, text.count)]
            let content = line.prefix(Int(Self.lineCharacters))
            guard line.dropFirst(content.count).elementsEqual(line.count < stride ? [] : lineEnd)
            else { throw notBase64 }
            characters += content
        }
        guard let bytes = Self.decoded(characters) else { throw notBase64 }
        return bytes
    }

    private var notBase64: AgeError { .badArmor(path, reason: "a line of it is not base64") }

    /// Decodes base 64 with padding; `nil` if it is not in canonical form.
    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        guard let data = Data(base64Encoded: Data(text)),
            data.base64EncodedString().utf8.elementsEqual(text)
        else { return nil }
        return Array(data)
    }

    private static func head(of source: any ByteSource) throws -> [UInt8] {
        let most = mostSpace + beginLine.utf8.count + 2
        return try source.readExactly(count: Int(min(source.size, Int64(most))), at: 0)
    }

    /// Returns the range of the first line, which may follow white space.
    private static func begin(in head: [UInt8]) -> Range<Int>? {
        let spaces = head.prefix(while: \.isSpace)
        guard spaces.count <= mostSpace, spaces.isEmpty || spaces.last == UInt8(ascii: "\n"),
            head[spaces.endIndex...].starts(with: beginLine.utf8)
        else { return nil }
        return spaces.endIndex..<spaces.endIndex + beginLine.utf8.count
    }

    /// Returns the end of the content, before the line break that precedes the last line.
    private static func end(
        of source: any ByteSource,
        from start: Int64,
        _ lineEnd: [UInt8]
    ) throws -> Int64? {
        let length = try source.size
        let most = Int64(mostSpace + endLine.utf8.count + lineEnd.count)
        let from = max(start - Int64(lineEnd.count), length - most)
        let tail = try source.readExactly(count: Int(length - from), at: from)
        let spaces = tail.reversed().prefix(while: \.isSpace).count
        let text = tail.dropLast(spaces)
        let behind = tail.suffix(spaces)
        guard text.suffix(endLine.utf8.count).elementsEqual(endLine.utf8),
            behind.isEmpty || behind.starts(with: lineEnd)
        else { return nil }
        let before = text.dropLast(endLine.utf8.count)
        guard before.suffix(lineEnd.count).elementsEqual(lineEnd) else { return nil }
        // Without content, the first line's break precedes the last line.
        return max(start, from + Int64(before.count - lineEnd.count))
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { [0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D].contains(self) }
}
