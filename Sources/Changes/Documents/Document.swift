public import Files
internal import Foundation

/// The header of a device's card, a group's mark and a map.
public struct DocumentHeader: Hashable, Sendable {
    public var group: GroupID
    public var device: DeviceID
    public var clock: UInt64

    public init(group: GroupID, device: DeviceID, clock: UInt64) {
        self.group = group
        self.device = device
        self.clock = clock
    }
}

/// The JSON content of a file: a device's card, a group's mark, or a map.
public protocol Document: Codable, Equatable, Sendable {
    /// The kind of its files.
    static var kind: FileKind { get }

    /// Throws `FormatBreach` if the decoded content is invalid.
    func check() throws
}

/// A document's file, decoded.
public struct DocumentFile<Content: Document>: Sendable {
    public let id: Digest
    public let header: DocumentHeader
    public let content: Content

    /// Reads a file.
    ///
    /// It ignores unknown keys, so that a later version may add some.
    ///
    /// - Throws: `ChangeError`.
    public init(reading bytes: [UInt8], name: String, inflate: Inflate) throws {
        try self.init(Envelope(reading: bytes, name: name, inflate: inflate), name: name)
    }

    /// Reads the content of an envelope, and ignores unknown keys.
    ///
    /// - Throws: `ChangeError`.
    public init(_ envelope: Envelope, name: String) throws {
        guard envelope.kind == Content.kind else {
            throw ChangeError.otherKind(name, kind: envelope.kind)
        }
        do {
            id = envelope.id
            header = try envelope.header.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                return DocumentHeader(
                    group: try reader.identifier(),
                    device: try reader.identifier(),
                    clock: try reader.clock()
                )
            }
            content = try JSONText.decode(Content.self, from: envelope.body)
        } catch let breach as FormatBreach {
            throw ChangeError.malformed(name, reason: breach.reason)
        }
    }

    /// Returns the bytes of a file, and its id.
    ///
    /// - Throws: `ChangeError.beyondLimit`.
    public static func write(_ header: DocumentHeader, _ content: Content) throws -> WrittenFile {
        guard header.clock < HybridClock.limit else {
            throw ChangeError.beyondLimit("a clock is beyond its limit")
        }
        var writer = ByteWriter()
        writer.identifier(header.group)
        writer.identifier(header.device)
        writer.bigEndian(header.clock)
        do {
            let body = try JSONText.encode(content)
            return try Envelope.write(Content.kind, header: writer.bytes, body: body)
        } catch let breach as FormatBreach {
            throw ChangeError.beyondLimit(breach.reason)
        }
    }
}

/// The coding of untrusted JSON: at most 1 MiB, nested at most eight deep.
enum JSONText {
    static let maximumLength = 1 << 20
    static let maximumDepth = 8

    /// Decodes a document; on request it refuses keys that this version does not know.
    static func decode<Content: Document>(
        _ type: Content.Type,
        from bytes: [UInt8],
        refusesOtherKeys: Bool = false
    ) throws(FormatBreach) -> Content {
        guard bytes.count <= maximumLength else { throw FormatBreach("its JSON is over 1 MiB") }
        guard depth(of: bytes) <= maximumDepth else {
            throw FormatBreach("its JSON is nested too deep")
        }
        do {
            let decoder = JSONDecoder()
            if let key = CodingUserInfoKey.refusesOtherKeys {
                decoder.userInfo[key] = refusesOtherKeys
            }
            let content = try decoder.decode(type, from: Data(bytes))
            try content.check()
            return content
        } catch let breach as FormatBreach {
            throw breach
        } catch {
            throw FormatBreach("its JSON does not say what a \(Content.kind) has to")
        }
    }

    /// Encodes a document with its keys in order.
    static func encode(_ content: some Document) throws -> [UInt8] {
        try content.check()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(content))
    }

    /// Returns the nesting depth of arrays and objects; it does not recurse, as a parser would.
    private static func depth(of bytes: [UInt8]) -> Int {
        var depth = 0
        var deepest = 0
        var isInString = false
        var isEscaped = false
        for byte in bytes {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        return deepest
    }
}

extension CodingUserInfoKey {
    fileprivate static let refusesOtherKeys = CodingUserInfoKey(rawValue: "refusesOtherKeys")
}

extension Decoder {
    /// Throws if an object has other keys than these, and the decoder was set up to refuse them.
    func checkKeys<Key: CodingKey & CaseIterable>(_: Key.Type) throws {
        guard let key = CodingUserInfoKey.refusesOtherKeys, userInfo[key] as? Bool == true else {
            return
        }
        let known = Key.allCases.map(\.stringValue)
        let keys = try container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        if let other = keys.sorted().first(where: { !known.contains($0) }) {
            let names = known.map { "'\($0)'" }.joined(separator: ", ")
            throw FormatBreach("'\(other)' cannot be here; \(names) can")
        }
    }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer {
    /// Decodes an id from its hexadecimal digits.
    func identifier<ID: Identifier>(_ key: Key) throws -> ID {
        guard let id = ID(hex: try decode(String.self, forKey: key)) else {
            throw FormatBreach("an id is not 32 hexadecimal digits")
        }
        return id
    }

    /// Decodes ids; returns none if the key is missing.
    func identifiers<ID: Identifier>(_ key: Key) throws -> [ID] {
        try (decodeIfPresent([String].self, forKey: key) ?? []).map { text in
            guard let id = ID(hex: text) else {
                throw FormatBreach("an id is not 32 hexadecimal digits")
            }
            return id
        }
    }
}
