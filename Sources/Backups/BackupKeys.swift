public import Age
package import Files
internal import Synchronization
internal import SystemPackage

/// The keys of a run: who may read the backups that it makes, and what opens those that are encrypted.
///
/// Nothing is asked for, and no file of keys is read, before it is needed; then it is kept until the end.
public final class BackupKeys: Sendable {
    /// Gives the passphrase.
    ///
    /// - Parameter isNew: whether a backup is to be encrypted with it, so that it is better said twice.
    /// - Returns: `nil` if there is none.
    public typealias AskPassphrase = @Sendable (_ isNew: Bool) throws -> Passphrase?

    private struct Known {
        var recipients: Result<[Recipient], any Error>?
        var identities: Result<[Identity], any Error>?
        var passphrase: Result<Passphrase?, any Error>?
    }

    /// No keys: nothing is encrypted, and nothing that is can be opened.
    public static let none = BackupKeys()

    /// Whether new backups are encrypted.
    public let encrypts: Bool
    private let readRecipients: @Sendable () throws -> [Recipient]
    private let readIdentities: @Sendable () throws -> [Identity]
    private let askPassphrase: AskPassphrase
    private let known = Mutex(Known())

    /// Names the places of keys.
    ///
    /// - Parameters:
    ///   - encrypts: whether new backups are encrypted.
    ///   - recipients: reads those who may read them; none for whoever knows the passphrase.
    ///   - identities: reads the secret keys.
    ///   - passphrase: gives the passphrase.
    public init(
        encrypts: Bool = false,
        recipients: @escaping @Sendable () throws -> [Recipient] = { [] },
        identities: @escaping @Sendable () throws -> [Identity] = { [] },
        passphrase: @escaping AskPassphrase = { _ in nil }
    ) {
        self.encrypts = encrypts
        readRecipients = recipients
        readIdentities = identities
        askPassphrase = passphrase
    }

    /// Returns those who may read new backups; `nil` if they are not encrypted.
    ///
    /// - Throws: `AgeError`; what reading them throws.
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

    /// Returns those who can read new backups if nobody was named: the holders of the keys that were used.
    ///
    /// It is for what has to stay secret because something else was.
    /// - Throws: `AgeError`; what reading them throws.
    package func ownRecipients() throws -> [Recipient] {
        try known.withLock { known in
            let keys = try known.identities?.get() ?? []
            let passphrase = try known.passphrase?.get()
            // A hybrid one would not stand beside others.
            let isHybrid = keys.first?.recipient.isHybrid ?? false
            let recipients = keys.map(\.recipient).filter { $0.isHybrid == isHybrid }
            return recipients.isEmpty ? passphrase.map { [Recipient($0)] } ?? [] : recipients
        }
    }

    /// Returns those who can read an archive, each of whom has to be known by a key at hand.
    ///
    /// It is for what takes the archive's place: nobody is to lose it by that.
    ///
    /// - Parameters:
    ///   - source: the file.
    ///   - name: its file name.
    /// - Returns: `nil` if it is not encrypted.
    /// - Throws: `AgeError.otherReaders` if there are others; see `opened`.
    package func readers(of source: any ByteSource, name: String) throws -> [Recipient]? {
        guard BackupName.isEncrypted(name) else { return nil }
        let file = try EncryptedFile(source, named: FilePath(name))
        let identities = try identities(for: file)
        let readers = identities.filter { (try? file.check([$0])) != nil }.map(\.recipient)
        // It says why none does.
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

    /// Returns the secret keys, and the passphrase if a file has one.
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
    ///   - asks: whether a passphrase may be asked for, and a second spent on it.
    /// - Returns: the archive.
    /// - Throws: `AgeError`; what reading the source and the keys throws.
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

    /// Throws unless there is a key for an archive, of which only the beginning needs to be at hand.
    ///
    /// - Throws: see `opened`.
    package func check(_ source: any ByteSource, name: String) throws {
        guard BackupName.isEncrypted(name) else { return }
        let file = try EncryptedFile(source, named: FilePath(name))
        try file.check(identities(for: file))
    }
}

extension Error {
    /// Whether an archive is encrypted, and there is no key that opens it.
    package var isOfKeys: Bool { (self as? AgeError)?.isOfKeys ?? false }
}
