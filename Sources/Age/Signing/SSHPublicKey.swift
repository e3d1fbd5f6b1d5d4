internal import Crypto
internal import Foundation

/// A public Ed25519 key of SSH.
public struct SSHPublicKey: Sendable, Equatable {
    /// The name of this kind of key.
    public static let kind = "ssh-ed25519"

    /// The key in SSH's wire format: its kind, and its bytes.
    let wire: [UInt8]
    /// The four bytes that identify the key in a stanza.
    var tag: String { Base64.encode(SHA256.hash(data: wire).prefix(4)) }

    /// The key in the text form of SSH files.
    public var text: String { "\(Self.kind) \(Data(wire).base64EncodedString())" }

    /// The fingerprint that `ssh-keygen -l` prints: `SHA256:` and 43 characters.
    public var fingerprint: String { "SHA256:\(Base64.encode(SHA256.hash(data: wire)))" }

    /// The 32 bytes of the point.
    var edwards: [UInt8] { wire.suffix(32) }

    /// The same point in X25519's form; `nil` if the bytes are no point of the curve.
    var montgomery: [UInt8]? { CurveField.montgomery(ofEdwards: edwards) }

    init(edwards bytes: [UInt8]) {
        wire = SSHReader.string(Array(Self.kind.utf8)) + SSHReader.string(bytes)
    }

    /// Parses a line of an SSH file: kind, base64, and an optional comment.
    ///
    /// Returns `nil` for another kind of key, and for bytes that are no point of the curve.
    public init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count >= 2, words[0] == Self.kind,
            let data = Data(base64Encoded: String(words[1]))
        else { return nil }
        self.init(wire: Array(data))
        guard montgomery != nil else { return nil }
    }

    /// Parses a key in SSH's wire format; `nil` for another kind of key.
    ///
    /// The bytes may be no point of the curve; no signature is valid for such a key.
    init?(wire: [UInt8]) {
        var reader = SSHReader(wire)
        guard reader.readKind(), let bytes = reader.string(), bytes.count == 32, reader.isAtEnd
        else { return nil }
        self.init(edwards: Array(bytes))
    }
}
