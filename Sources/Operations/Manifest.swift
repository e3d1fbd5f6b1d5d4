internal import Archives
internal import Files
public import Foundation
internal import Stores

/// What an archive says of itself at the beginning of its manifest; see
/// `Documentation/ArchiveFormat.md`.
public struct ManifestHeader: Codable, Sendable {
    /// The version of the format that this program writes, and the newest that it reads.
    public static let currentFormat = 1

    public var format: Int
    /// RFC 3339 with an offset.
    public var created: String
    /// The program that made the archive, and its version.
    public var tool: String
    /// Why it was made, where it was not for its own sake.
    public var reason: String?
    public var segmentSize: Int
    public var root: Root
    public var stores: [StoreRecord]
    /// What this backup has much less of than there was; `nil` where there is nothing.
    public var anomalies: [Anomaly]?
    /// What the next backup is to be compared with, where that is not this one.
    public var baseline: [StoreRows]?

    /// The stores directory itself.
    public struct Root: Codable, Sendable, Equatable {
        public var mode: String
        public var uid: UInt32
        public var gid: UInt32
    }

    /// A store and what is in it.
    public struct StoreRecord: Codable, Sendable {
        /// Printable: names in a manifest's records are exact, this one is for people.
        public var path: String
        public var pageSize: Int
        public var pageCount: Int64
        public var journalMode: String
        public var userVersion: Int64
        public var applicationId: Int64
        public var kind: String
        public var tables: [Table]
    }

    /// A table and how many rows it has.
    public struct Table: Codable, Sendable {
        public var name: String
        /// `nil` where they could not be counted.
        public var rows: Int64?

        init(name: String, rows: Int64?) {
            self.name = name
            self.rows = rows
        }

        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            name = try values.decode(String.self, forKey: .name)
            rows = try values.decodeRows(forKey: .rows)
        }
    }

    /// When the backup was made.
    public var date: Date? { Timestamp.date(rfc3339: created) }
}

extension ManifestHeader.StoreRecord {
    init(path: RelativePath, facts: StoreFacts) {
        self.init(
            path: path.description,
            pageSize: facts.pageSize,
            pageCount: facts.pageCount,
            journalMode: facts.journalMode,
            userVersion: facts.userVersion,
            applicationId: facts.applicationID,
            kind: facts.kind.rawValue,
            tables: facts.tables.map { ManifestHeader.Table(name: $0.name, rows: $0.rows) }
        )
    }
}

/// What a manifest says after the records of its files.
public struct ManifestTrailer: Codable, Sendable {
    /// What could not be done as it should.
    public var problems: [Problem]
    /// How many entries there are, without the manifest.
    public var entries: Int
    /// Bytes in all files before compression.
    public var bytes: Int64
    /// The digest of all content; `nil` in some of before the first release.
    public var content: String?
}

/// The names that a manifest has in an archive.
enum ManifestPlace {
    static let directoryName: FileName = ".grocerydude"
    static let path = RelativePath(name: directoryName).appending("manifest.json")

    /// Bytes of the first line and of the last at most: what is longer is there to fill our memory.
    ///
    /// They do not grow with the files, but with what is in the stores and with what was wrong, of
    /// which a small archive may have much.
    static let headerLimit = 64 << 20
    static let trailerLimit = 64 << 20
}

/// The manifest's record of one entry.
struct FileRecord: Decodable {
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

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            let text = try values.decode(String.self)
            let length = try values.decode(Int.self)
            guard let digest = Digest(hex: Array(text.utf8)), values.isAtEnd else {
                throw DecodingError.dataCorruptedError(
                    in: values,
                    debugDescription: "not a segment"
                )
            }
            record = SegmentRecord(digest: digest, length: length)
        }
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let bytes =
            try values.decodeIfPresent(Data.self, forKey: .pathBase64).map(Array.init)
            ?? Array(values.decode(String.self, forKey: .path).utf8)
        guard
            let kind = EntryAttributes.Kind(
                rawValue: try values.decode(String.self, forKey: .type)
            ),
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

    /// One line of JSON.
    ///
    /// Written by hand: there may be a million of them.
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

    static func octal(_ mode: UInt16) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    /// What an entry is but for its times and for how it was compressed: equal for equal content.
    var contentKey: [UInt8] {
        var key = attributes.path.bytes + [0]
        let owner = "\(attributes.owner?.user ?? 0) \(attributes.owner?.group ?? 0)"
        key += Array(
            "\(attributes.kind.rawValue) \(size) \(Self.octal(attributes.mode)) \(owner)".utf8
        )
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
