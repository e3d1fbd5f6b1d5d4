/// The header of an encrypted file: its key, wrapped for each recipient.
struct Header: Sendable {
    static let versionLine = "age-encryption.org/v1"
    /// The maximum size in bytes of a header to read; one for five hundred recipients is smaller.
    static let limit = 1 << 20

    var stanzas: [Stanza]
    /// The authenticated bytes.
    var authenticated: [UInt8]
    var code: [UInt8]
    /// The size in bytes.
    var length: Int

    var encoded: [UInt8] { authenticated + Array(" \(Base64.encode(code))\n".utf8) }
}

extension Header {
    /// Wraps a key for recipients.
    init(_ key: FileKey, for recipients: [Recipient]) throws {
        try Recipient.check(recipients)
        stanzas = try recipients.map { try $0.wrap(key) }
        authenticated =
            Array("\(Self.versionLine)\n".utf8) + stanzas.flatMap(\.encoded) + Array("---".utf8)
        code = key.code(of: authenticated)
        length = 0
        length = encoded.count
    }

    /// Returns the file key if one of the identities opens it; `nil` if none of them is a recipient.
    ///
    /// - Throws: `Stanza.Fault` if a stanza breaks the format.
    func fileKey(_ identities: [Identity]) throws -> FileKey? {
        guard stanzas.count == 1 || !stanzas.contains(where: { $0.kind == ScryptWrapping.kind })
        else { throw Stanza.Fault(reason: "a password has other recipients beside it") }
        for identity in identities {
            for stanza in stanzas {
                if let key = try identity.unwrap(stanza) { return key }
            }
        }
        return nil
    }
}
