package import Archives
package import Files
internal import Foundation

/// The manifest's record of one entry, or of a path that an increment changes without an entry.
package struct ManifestRecord: Decodable {
    /// The attributes; for a removed path, only the path counts.
    var attributes: EntryAttributes
    /// The size of the content in bytes; with a patch, the size of the patched file.
    var size: Int64
    /// The segments of the entry of a complete file.
    var segments: [SegmentRecord]
    var change = FileChange.whole

    init(_ entry: WrittenEntry) {
        attributes = entry.attributes
        size = entry.size
        segments = entry.segments
    }

    /// Creates the record of a file that a patch changes.
    package init(_ attributes: EntryAttributes, size: Int64, patch: FilePatch) {
        self.attributes = attributes
        self.size = size
        segments = []
        change = .patched(patch)
    }

    /// Creates the record of a removed path.
    package init(removed path: RelativePath) {
        attributes = EntryAttributes(path: path, kind: .file, mode: 0, modified: 0)
        size = 0
        segments = []
        change = .removed
    }

    /// The record's entry in the archive; `nil` if there is none.
    var entry: (path: RelativePath, size: Int64)? {
        switch change {
        case .whole: (attributes.path, size)
        case .patched(let patch) where patch.size > 0: (patchPath, patch.size)
        case .patched, .removed: nil
        }
    }

    /// The path of a patch's entry.
    var patchPath: RelativePath {
        attributes.path.components.reduce(Manifest.patches) { $0.appending($1) }
    }

    private enum CodingKeys: String, CodingKey {
        case path, pathBase64 = "path_base64", type, size, mode, uid, gid, modified, segments,
            patch, changed
    }

    /// A segment: its SHA-256, and its length in the archive.
    private struct Segment: Decodable {
        var record: SegmentRecord

        package init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            let text = try values.decode(String.self)
            let length = try values.decode(Int.self)
            guard let digest = Digest(hex: Array(text.utf8)), values.isAtEnd else {
                let reason = "not a segment"
                throw DecodingError.dataCorruptedError(in: values, debugDescription: reason)
            }
            record = SegmentRecord(digest: digest, length: length)
        }
    }

    /// A segment of a patched file: its index, and its SHA-256.
    private struct Changed: Decodable {
        var segment: FilePatch.ChangedSegment

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            let index = try values.decode(Int.self)
            let text = try values.decode(String.self)
            guard let digest = Digest(hex: Array(text.utf8)), values.isAtEnd else {
                let reason = "not a changed segment"
                throw DecodingError.dataCorruptedError(in: values, debugDescription: reason)
            }
            segment = FilePatch.ChangedSegment(index: index, digest: digest)
        }
    }

    private struct Patch: Decodable {
        var size: Int64
        var segments: [Segment]
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let bytes =
            try values.decodeIfPresent(Data.self, forKey: .pathBase64).map(Array.init)
            ?? Array(values.decode(String.self, forKey: .path).utf8)
        let type = try values.decode(String.self, forKey: .type)
        if type == Self.removedType {
            self = ManifestRecord(removed: try RelativePath(validating: bytes))
            return
        }
        guard let kind = EntryAttributes.Kind(rawValue: type),
            let mode = UInt16(try values.decode(String.self, forKey: .mode), radix: 8),
            mode <= 0o7777
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .type,
                in: values,
                debugDescription: "not a type or mode"
            )
        }
        attributes = EntryAttributes(
            path: try RelativePath(validating: bytes),
            kind: kind,
            mode: mode,
            modified: try values.decode(Int64.self, forKey: .modified),
            owner: Owner(
                user: try values.decode(UInt32.self, forKey: .uid),
                group: try values.decode(UInt32.self, forKey: .gid)
            )
        )
        size = try values.decode(Int64.self, forKey: .size)
        guard let patch = try values.decodeIfPresent(Patch.self, forKey: .patch) else {
            segments = try values.decode([Segment].self, forKey: .segments).map(\.record)
            return
        }
        segments = []
        let filePatch = FilePatch(
            size: patch.size,
            segments: patch.segments.map(\.record),
            changed: try values.decode([Changed].self, forKey: .changed).map(\.segment)
        )
        guard kind == .file, filePatch.isPossible(forSize: size) else {
            throw DecodingError.dataCorruptedError(
                forKey: .patch,
                in: values,
                debugDescription: "not a patch of this file"
            )
        }
        change = .patched(filePatch)
    }

    private static let removedType = "removed"

    /// The record as one line of JSON, encoded without a JSON encoder, since there may be a million records.
    var line: [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256 + attributes.path.bytes.count + 80 * segments.count)
        appendPath(to: &line)
        if change == .removed {
            line += ",\"type\":\"\(Self.removedType)\"}".utf8
            return line
        }
        line += ",\"type\":\"".utf8
        line += attributes.kind.rawValue.utf8
        line += "\",\"size\":".utf8
        line.append(decimal: size)
        line += ",\"mode\":\"".utf8
        line += Self.octal(attributes.mode).utf8
        line += "\",\"uid\":".utf8
        line.append(decimal: Int64(attributes.owner?.user ?? 0))
        line += ",\"gid\":".utf8
        line.append(decimal: Int64(attributes.owner?.group ?? 0))
        line += ",\"modified\":".utf8
        line.append(decimal: attributes.modified)
        if case .patched(let patch) = change {
            line += ",\"patch\":{\"size\":\(patch.size),\"segments\":".utf8
            Self.append(patch.segments, to: &line)
            let changed = patch.changed.map { "[\($0.index),\"\($0.digest)\"]" }
            line += "},\"changed\":[\(changed.joined(separator: ","))]}".utf8
        } else {
            line += ",\"segments\":".utf8
            Self.append(segments, to: &line)
            line.append(UInt8(ascii: "}"))
        }
        return line
    }

    private func appendPath(to line: inout [UInt8]) {
        let bytes = attributes.path.bytes
        if bytes.allSatisfy(Self.isPlain) {
            line += "{\"path\":\"".utf8
            line += bytes
            line.append(UInt8(ascii: "\""))
        } else if let path = String(validating: bytes, as: UTF8.self) {
            line += "{\"path\":\(Self.quoted(path))".utf8
        } else {
            line += "{\"path_base64\":\"\(Data(bytes).base64EncodedString())\"".utf8
        }
    }

    private static func append(_ segments: [SegmentRecord], to line: inout [UInt8]) {
        line.append(UInt8(ascii: "["))
        for (index, segment) in segments.enumerated() {
            line += index == 0 ? "[\"".utf8 : ",[\"".utf8
            line += segment.digest.description.utf8
            line += "\",".utf8
            line.append(decimal: Int64(segment.length))
            line.append(UInt8(ascii: "]"))
        }
        line.append(UInt8(ascii: "]"))
    }

    /// Returns whether the byte needs no escape in a JSON string.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    package static func octal(_ mode: UInt16) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    /// Returns a JSON string (RFC 8259, 7).
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
