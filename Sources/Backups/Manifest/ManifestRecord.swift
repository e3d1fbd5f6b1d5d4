internal import Archives
internal import Files
internal import Foundation

/// The manifest's record of one entry.
package struct ManifestRecord: Decodable {
    var attributes: EntryAttributes
    var size: Int64
    var segments: [SegmentRecord]

    init(_ entry: WrittenEntry) {
        attributes = entry.attributes
        size = entry.size
        segments = entry.segments
    }

    private enum CodingKeys: String, CodingKey {
        case path, pathBase64 = "path_base64", type, size, mode, uid, gid, modified, segments
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

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let bytes =
            try values.decodeIfPresent(Data.self, forKey: .pathBase64).map(Array.init)
            ?? Array(values.decode(String.self, forKey: .path).utf8)
        let type = try values.decode(String.self, forKey: .type)
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
        segments = try values.decode([Segment].self, forKey: .segments).map(\.record)
    }

    /// One line of JSON, written by hand: there may be a million of them.
    var line: [UInt8] {
        var text = "{"
        let bytes = attributes.path.bytes
        if let path = String(validating: bytes, as: UTF8.self) {
            text += "\"path\":\(Self.quoted(path))"
        } else {
            text += "\"path_base64\":\"\(Data(bytes).base64EncodedString())\""
        }
        text += ",\"type\":\"\(attributes.kind.rawValue)\",\"size\":\(size)"
        text += ",\"mode\":\"\(Self.octal(attributes.mode))\""
        text += ",\"uid\":\(attributes.owner?.user ?? 0),\"gid\":\(attributes.owner?.group ?? 0)"
        text += ",\"modified\":\(attributes.modified),\"segments\":["
        for (index, segment) in segments.enumerated() {
            text += index == 0 ? "[\"" : ",[\""
            text += segment.digest.description
            text += "\",\(segment.length)]"
        }
        text += "]}"
        return Array(text.utf8)
    }

    package static func octal(_ mode: UInt16) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    /// The entry without its times and its compression: equal for equal content.
    var contentKey: [UInt8] {
        var key = attributes.path.bytes + [0]
        let owner = "\(attributes.owner?.user ?? 0) \(attributes.owner?.group ?? 0)"
        let mode = Self.octal(attributes.mode)
        key += Array("\(attributes.kind.rawValue) \(size) \(mode) \(owner)".utf8)
        for segment in segments { key += segment.digest.bytes }
        return key
    }

    /// A JSON string (RFC 8259, 7).
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
