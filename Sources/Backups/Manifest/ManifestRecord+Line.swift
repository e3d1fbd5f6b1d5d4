internal import Archives
internal import Files

extension ManifestRecord {
    /// Parses a line in the form in which `line` writes a complete entry, much faster than a JSON decoder.
    ///
    /// Returns `nil` for any other form, which may be valid too; a decoder decides.
    /// - Parameter line: the line without the comma at its end.
    init?(line: some Collection<UInt8>) {
        let record = line.withContiguousStorageIfAvailable { bytes -> ManifestRecord? in
            var scanner = RecordScanner(UnsafeRawBufferPointer(bytes))
            return scanner.record()
        }
        guard case let record?? = record else { return nil }
        self = record
    }

    fileprivate init(_ attributes: EntryAttributes, size: Int64, segments: [SegmentRecord]) {
        self.attributes = attributes
        self.size = size
        self.segments = segments
    }
}

/// A scanner of a line that stops at the first byte that `ManifestRecord.line` would not write.
private struct RecordScanner {
    private let bytes: UnsafeRawBufferPointer
    private var place = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func record() -> ManifestRecord? {
        guard skip("{\"path\":\""), let name = text(),
            skip(",\"type\":\""), let type = text(),
            let kind = EntryAttributes.Kind(rawValue: String(decoding: type, as: UTF8.self)),
            skip(",\"size\":"), let size = number(), skip(",\"mode\":\""), let mode = mode(),
            skip(",\"uid\":"), let user = number().flatMap(UInt32.init(exactly:)),
            skip(",\"gid\":"), let group = number().flatMap(UInt32.init(exactly:)),
            skip(",\"modified\":"), let modified = number(), skip(",\"segments\":["),
            let segments = segments(), skip("}"), place == bytes.count,
            let path = try? RelativePath(validating: name)
        else { return nil }
        let attributes = EntryAttributes(
            path: path,
            kind: kind,
            mode: mode,
            modified: modified,
            owner: Owner(user: user, group: group)
        )
        return ManifestRecord(attributes, size: size, segments: segments)
    }

    private mutating func skip(_ expected: StaticString) -> Bool {
        let end = place + expected.utf8CodeUnitCount
        guard end <= bytes.count else { return false }
        for index in 0..<expected.utf8CodeUnitCount
        where bytes[place + index] != expected.utf8Start[index] { return false }
        place = end
        return true
    }

    /// Reads a string to its end; returns `nil` if it has an escape sequence or is no UTF-8.
    private mutating func text() -> [UInt8]? {
        let start = place
        var isASCII = true
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            guard bytes[place] >= 0x20, bytes[place] != UInt8(ascii: "\\") else { return nil }
            if bytes[place] >= 0x80 { isASCII = false }
            place += 1
        }
        guard place < bytes.count else { return nil }
        let text = Array(bytes[start..<place])
        place += 1
        return isASCII || String(validating: text, as: UTF8.self) != nil ? text : nil
    }

    /// Reads an integer in JSON's form.
    private mutating func number() -> Int64? {
        let isNegative = place < bytes.count && bytes[place] == UInt8(ascii: "-")
        if isNegative { place += 1 }
        let start = place
        var value: Int64 = 0
        while place < bytes.count, let digit = digit(bytes[place], below: 10) {
            let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (next, overflows) = tens.subtractingReportingOverflow(Int64(digit))
            guard !isTooLarge, !overflows else { return nil }
            value = next
            place += 1
        }
        let count = place - start
        guard count == 1 || count > 1 && bytes[start] != UInt8(ascii: "0") else { return nil }
        // There is one more negative number than positive ones.
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    /// Reads four octal digits and the end of their string.
    private mutating func mode() -> UInt16? {
        guard place + 5 <= bytes.count else { return nil }
        var mode: UInt16 = 0
        for byte in bytes[place..<(place + 4)] {
            guard let digit = digit(byte, below: 8) else { return nil }
            mode = mode << 3 | UInt16(digit)
        }
        place += 4
        return skip("\"") ? mode : nil
    }

    /// Reads segments to the end of their array.
    private mutating func segments() -> [SegmentRecord]? {
        var segments: [SegmentRecord] = []
        if skip("]") { return segments }
        repeat {
            guard skip("[\""), place + 64 <= bytes.count,
                let digest = Digest(hex: Array(bytes[place..<(place + 64)]))
            else { return nil }
            place += 64
            guard skip("\","), let length = number().flatMap(Int.init(exactly:)), skip("]") else {
                return nil
            }
            segments.append(SegmentRecord(digest: digest, length: length))
        } while skip(",")
        return skip("]") ? segments : nil
    }

    private func digit(_ byte: UInt8, below limit: UInt8) -> UInt8? {
        let digit = byte &- UInt8(ascii: "0")
        return digit < limit ? digit : nil
    }
}
