public import Age
package import Files
internal import Synchronization
internal import SystemPackage

/// The keys of a run: the recipients of new backups, and the identities that open encrypted ones.
///
/// Files of keys are read, and passphrases requested, only when they are needed. They are kept until the run ends.
public final class BackupKeys: Sendable {
    /// A closure that returns the passphrase.
    ///
    /// - Parameter isNew: whether a new backup is encrypted with it, so that it should be entered twice.
    /// - Returns: `nil` if there is none.
    public typealias AskPassphrase = @Sendable (_ isNew: Bool) throws -> Passphrase?

    private struct Known {
        var recipients: Result<[Recipient], any Error>?
        var identities: Result<[Identity], any Error>?
        var passphrase: Result<Passphrase?, any Error>?
    }

    /// The keys of a run without encryption: nothing is encrypted, and nothing encrypted can be opened.
    public static let none = BackupKeys()

    /// The signing and trusted keys; `nil` if backups are not signed and signatures are not required.
    public let signers: Signers?
    /// Whether new backups are encrypted.
    public let encrypts: Bool
    private let readRecipients: @Sendable () throws -> [Recipient]
    private let readIdentities: @Sendable () throws -> [Identity]
    private let askPassphrase: AskPassphrase
    private let known = Mutex(Known())

    /// Creates the keys from closures that read them.
    ///
    /// - Parameters:
    ///   - encrypts: whether new backups are encrypted.
    ///   - recipients: reads the recipients of new backups; without any, the passphrase encrypts.
    ///   - identities: reads the secret keys.
    ///   - passphrase: returns the passphrase.
    ///   - signers: the signing and the trusted keys.
    public init(
        encrypts: Bool = false,
        recipients: @escaping @Sendable () throws -> [Recipient] = { [] },
        identities: @escaping @Sendable () throws -> [Identity] = { [] },
        passphrase: @escaping AskPassphrase = { _ in nil },
        signers: Signers? = nil
    ) {
        self.signers = signers
        self.encrypts = encrypts
        readRecipients = recipients
        readIdentities = identities
        askPassphrase = passphrase
    }

    /// Returns the recipients of new backups; `nil` if they are not encrypted.
    ///
    /// - Throws: `AgeError`; what the closures throw.
    package func recipients() throws -> [Recipient]? {
        guard encrypts else { return nil }
        return try known.withLock { known in
            let result =
                known.recipients
                ?? Result {
                    var recipients = try readRecipients()
                    if recipients.isEmpty {
                        let passphrase = known.passphrase ?? Result { try askPassphrase(true) }
                        known.passphrase = passphrase
                        recipients = try passphrase.get().map { [Recipient($0)] } ?? []
                    }
                    try Recipient.check(recipients)
                    return recipients
                }
            known.recipients = result
            return try result.get()
        }
    }

    /// Returns recipients for new backups if none were named: those of the secret keys and the passphrase used so far.
    ///
    /// They encrypt data that must stay secret because its source was encrypted.
    /// - Throws: `AgeError`; what the closures throw.
    package func ownRecipients() throws -> [Recipient] {
        try known.withLock { known in
            let keys = try known.identities?.get() ?? []
            let passphrase = try known.passphrase?.get()
            // A hybrid recipient cannot be combined with others.
            let isHybrid = keys.first?.recipient.isHybrid ?? false
            let recipients = keys.map(\.recipient).filter { $0.isHybrid == isHybrid }
            return recipients.isEmpty ? passphrase.map { [Recipient($0)] } ?? [] : recipients
        }
    }

    /// Returns a digest of recipients, which distinguishes backups for others; `nil` for no encryption.
    ///
    /// All passphrases have one digest.
    package static func digest(of recipients: [Recipient]?) -> String? {
        guard let recipients else { return nil }
        let text = recipients.map(\.description).sorted().joined(separator: "\n")
        let digest = Array(text.utf8).withUnsafeBytes { Digest(of: $0) }
        return String(digest.description.prefix(32))
    }

    /// Returns the recipients of an archive, each of which must belong to an available secret key.
    ///
    /// They encrypt the archive's replacement, so that no recipient loses access.
    ///
    /// - Parameters:
    ///   - source: the file.
    ///   - name: its file name.
    /// - Returns: `nil` if it is not encrypted.
    /// - Throws: `AgeError.otherReaders` if there are other recipients; see `opened`.
    package func readers(of source: any ByteSource, name: String) throws -> [Recipient]? {
        guard BackupName.isEncrypted(name) else { return nil }
        let file = try EncryptedFile(source, named: FilePath(name))
        let identities = try identities(for: file)
        let readers = identities.filter { (try? file.check([$0])) != nil }.map(\.recipient)
        // If no identity fits, this throws the reason.
        if readers.isEmpty { try file.check(identities) }
        guard readers.count >= file.recipientCount else {
            throw AgeError.otherReaders(
                FilePath(name),
                known: readers.count,
                of: file.recipientCount
            )
        }
        return readers
    }

    /// Returns the secret keys, or the passphrase if the file has one.
    private func identities(for file: EncryptedFile) throws -> [Identity] {
        try known.withLock { known in
            guard file.hasPassphrase else {
                let result = known.identities ?? Result { try readIdentities() }
                known.identities = result
                return try result.get()
            }
            let result = known.passphrase ?? Result { try askPassphrase(false) }
            known.passphrase = result
            return try result.get().map { [Identity($0)] } ?? []
        }
    }

    /// Returns the bytes of an archive, decrypted if its name says that it is encrypted.
    ///
    /// - Parameters:
    ///   - source: the file.
    ///   - name: the backup's file name.
    ///   - asks: whether to request a passphrase, and to spend about a second on deriving its key.
    /// - Returns: the archive.
    /// - Throws: `AgeError`; what the source and the closures throw.
    package func opened(
        _ source: any ByteSource,
        name: String,
        asks: Bool = true
    ) throws -> any ByteSource {
        guard BackupName.isEncrypted(name) else { return source }
        let file = try EncryptedFile(source, named: FilePath(name))
        guard !file.hasPassphrase || asks else {
            throw AgeError.needsPassphrase(FilePath(name))
        }
        return try file.decrypted(with: identities(for: file))
    }

    /// Throws unless a key opens an archive.
    ///
    /// Only the beginning of the archive is needed.
    ///
    /// - Throws: see `opened`.
    package func check(_ source: any ByteSource, name: String) throws {
        guard BackupName.isEncrypted(name) else { return }
        let file = try EncryptedFile(source, named: FilePath(name))
        try file.check(identities(for: file))
    }
}

extension Error {
    /// Whether the error says that an archive is encrypted and no available key opens it.
    package var isOfKeys: Bool { (self as? AgeError)?.isOfKeys ?? false }
}
