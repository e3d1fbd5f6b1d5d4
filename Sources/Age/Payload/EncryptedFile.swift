public import Files
public import SystemPackage

/// An encrypted file whose header was read; it is not authenticated yet.
public struct EncryptedFile: Sendable {
    let source: any ByteSource
    let header: Header
    /// The path for messages.
    let path: FilePath

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - source: the file, whose first bytes are needed; it may be armored text.
    ///   - path: the path for messages; `nil` for the source's.
    /// - Throws: `AgeError`; what the source throws.
    public init(_ source: any ByteSource, named path: FilePath? = nil) throws {
        let path = path ?? source.path
        self.path = path
        do {
            header = try HeaderParser.read(source, named: path)
            self.source = source
        } catch AgeError.notEncrypted {
            guard try ArmoredSource.isMeant(source) else { throw AgeError.notEncrypted(path) }
            let plain = try ArmoredSource(source, named: path)
            header = try HeaderParser.read(plain, named: path)
            self.source = plain
        }
    }

    /// Whether it was encrypted with a passphrase.
    public var hasPassphrase: Bool { header.stanzas.first?.kind == ScryptWrapping.kind }

    /// The number of recipients.
    public var recipientCount: Int { header.stanzas.count }

    /// The size in bytes of the header and the nonce before the data.
    public var overhead: Int64 { Int64(header.length + FileKey.nonceSize) }

    /// Returns the content, after verifying its last chunk.
    ///
    /// - Parameter identities: keys that may open it, in the order in which they are tried.
    /// - Returns: the content; each chunk is verified when it is read.
    /// - Throws: `AgeError`; what the source throws.
    public func decrypted(with identities: [Identity]) throws -> DecryptedSource {
        let key = try unwrapped(with: identities)
        guard try source.size >= overhead else {
            throw AgeError.badHeader(path, reason: "it has no end")
        }
        let nonce = try source.readExactly(count: FileKey.nonceSize, at: Int64(header.length))
        return try DecryptedSource(
            source,
            named: path,
            from: overhead,
            key: key.payloadKey(nonce: nonce)
        )
    }

    /// Throws unless one of the keys opens it; see `decrypted(with:)`.
    public func check(_ identities: [Identity]) throws {
        _ = try unwrapped(with: identities)
    }

    private func unwrapped(with identities: [Identity]) throws -> FileKey {
        let key: FileKey?
        do {
            try checkWork(of: identities)
            // The costly work for a passphrase is done only if the file has one.
            key = try header.fileKey(identities)
        } catch let fault as Stanza.Fault {
            throw AgeError.badHeader(path, reason: fault.reason)
        }
        guard let key else { throw refusal(identities) }
        guard key.isCode(header.code, of: header.authenticated) else {
            throw AgeError.forgedHeader(path)
        }
        return key
    }

    /// Throws if the passphrase needs more work than usual, and the user does not allow it.
    private func checkWork(of identities: [Identity]) throws {
        guard header.stanzas.count == 1,
            let factor = try ScryptWrapping.workFactor(of: header.stanzas[0]),
            factor > ScryptWrapping.usualLimit
        else { return }
        let memory = ScryptWrapping.memory(factor)
        for identity in identities {
            guard try identity.passphrase?.mayTake(path, memory) != false else {
                throw AgeError.muchWork(path, memory: memory)
            }
        }
    }

    private func refusal(_ identities: [Identity]) -> AgeError {
        guard hasPassphrase else {
            return .noMatch(path, keys: identities.count { !$0.isPassphrase })
        }
        return identities.contains(where: \.isPassphrase)
            ? .wrongPassphrase(path) : .needsPassphrase(path)
    }
}
