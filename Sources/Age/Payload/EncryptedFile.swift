public import Files
public import SystemPackage

/// An encrypted file whose header was read; nothing says yet that it is genuine.
public struct EncryptedFile: Sendable {
    let source: any ByteSource
    let header: Header
    /// The name that messages give it.
    let path: FilePath

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - source: the file, of which the first bytes are needed; it may be written as text.
    ///   - path: the name that messages give it; `nil` for the source's.
    /// - Throws: `AgeError`; what the source throws.
    public init(_ source: any ByteSource, named path: FilePath? = nil) throws {
        let path = path ?? source.path
        self.path = path
        do {
            header = try HeaderParser.read(source, named: path)
            self.source = source
        } catch AgeError.notEncrypted {
            guard try ArmoredSource.begins(source) else { throw AgeError.notEncrypted(path) }
            let plain = try ArmoredSource(source, named: path)
            header = try HeaderParser.read(plain, named: path)
            self.source = plain
        }
    }

    /// Whether it was encrypted with a passphrase.
    public var hasPassphrase: Bool { header.stanzas.first?.kind == ScryptWrapping.kind }

    /// How many may read it.
    public var recipientCount: Int { header.stanzas.count }

    /// Bytes before the data: the header, and the nonce.
    public var overhead: Int64 { Int64(header.length + FileKey.nonceSize) }

    /// Returns the content, of which the last chunk was verified.
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
            // A passphrase is worth a second's work only if the file has one.
            key = try header.fileKey(identities)
        } catch let fault as Stanza.Fault {
            throw AgeError.badHeader(path, reason: fault.reason)
        }
        guard let key else { throw refusal(identities) }
        guard key.authenticates(header) else { throw AgeError.forgedHeader(path) }
        return key
    }

    private func refusal(_ identities: [Identity]) -> AgeError {
        guard hasPassphrase else {
            return .noMatch(path, keys: identities.count { !$0.isPassphrase })
        }
        return identities.contains(where: \.isPassphrase)
            ? .wrongPassphrase(path) : .needsPassphrase(path)
    }
}
