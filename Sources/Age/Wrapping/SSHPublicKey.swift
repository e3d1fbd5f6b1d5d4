internal import Crypto
internal import Foundation

/// A public key of SSH, of the kind Ed25519.
struct SSHPublicKey: Sendable, Equatable {
    /// As SSH sends it: its kind, and its bytes.
    let wire: [UInt8]
    /// The same point, as X25519 has it.
    let montgomery: [UInt8]

    /// Four bytes by which a stanza names it.
    var tag: String { Base64.encode(SHA256.hash(data: wire).prefix(4)) }

    /// Its text, as in a file of SSH.
    var text: String { "\(SSHWrapping.kind) \(Data(wire).base64EncodedString())" }

    /// Takes the bytes of a key; `nil` if they are not a point of the curve.
    init?(edwards bytes: [UInt8]) {
        guard let montgomery = CurveField.montgomery(ofEdwards: bytes) else { return nil }
        self.init(edwards: bytes, montgomery: montgomery)
    }

    init(edwards bytes: [UInt8], montgomery: [UInt8]) {
        wire = SSHReader.string(Array(SSHWrapping.kind.utf8)) + SSHReader.string(bytes)
        self.montgomery = montgomery
    }

    /// Reads a line of a file of SSH: kind, base64, perhaps a comment; `nil` if it is not of this kind.
    init?(line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count >= 2, words[0] == SSHWrapping.kind,
            let data = Data(base64Encoded: String(words[1]))
        else { return nil }
        var reader = SSHReader(Array(data))
        guard reader.string().map({ $0.elementsEqual(SSHWrapping.kind.utf8) }) == true,
            let bytes = reader.string(), bytes.count == 32, reader.isAtEnd
        else { return nil }
        self.init(edwards: Array(bytes))
    }
}
