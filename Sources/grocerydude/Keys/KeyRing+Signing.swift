internal import Age
internal import Backups
internal import Files
internal import Foundation
internal import Operations
internal import SystemPackage

// The key that signs backups, and the trusted keys.
extension KeyRing {
    private static let state = FilePath(ProcessEnvironment.state + "/grocerydude")

    /// The file of the signing key that this program creates.
    static let signingKeyPath = state.appending("signing_key")
    /// The file of the signatures by which earlier keys vouch for that key.
    private static let vouchersPath = state.appending("signing_key.vouchers")
    /// The file of other machines' trusted keys, beside the configuration.
    static var allowedSignersPath: FilePath {
        FilePath(ProcessEnvironment.configuration + "/grocerydude/allowed_signers")
    }

    /// Returns the signing key and the trusted keys.
    func signers(at now: Date) -> Signers {
        let source = Signers.Source(
            signingKey: signingKey,
            ownKeys: ownKeys,
            allowed: Self.allowedSigners,
            vouchers: vouchers
        )
        return Signers(source, at: now)
    }

    /// Reads the key that signs backups, and creates it if none is named and none exists.
    ///
    /// - Returns: `nil` if none is named and none can be kept here, since an unsigned backup is better than none.
    @Sendable
    func signingKey() throws -> SigningKey? {
        do {
            return try wholeSigningKey()
        } catch let error as FileError where settings.signingKey == nil {
            console.warn("the backup is not signed: \(explainedWithHint(error))")
            return nil
        }
    }

    /// Reads or creates the key that signs backups; sets aside one that this program has made and that is damaged.
    private func wholeSigningKey() throws -> SigningKey {
        do {
            return try presentSigningKey() ?? newSigningKey()
        } catch KeyError.badFile(let path, let error) where settings.signingKey == nil {
            let aside = path.derived(".damaged")
            let fileSystem = LocalFileSystem()
            if try FileInfo.ifPresent(aside) != nil { try fileSystem.remove(aside) }
            try fileSystem.move(path, to: aside)
            console.warn(
                "the signing key is damaged, and was moved to '\(printable(aside))': \(error)"
            )
            return try newSigningKey()
        }
    }

    /// Creates the key that signs backups from now on; returns the existing one if another run created it meanwhile.
    private func newSigningKey() throws -> SigningKey {
        do {
            return try generateSigningKey()
        } catch KeyError.exists {
            return try Self.read(Self.signingKeyPath)
        }
    }

    /// Creates the key that signs backups from now on.
    ///
    /// - Throws: `KeyError.exists` if there is one; `KeyError.namedSigningKey` if the configuration names one;
    ///   `FileError`.
    func generateSigningKey() throws -> SigningKey {
        guard settings.signingKey == nil else { throw KeyError.namedSigningKey }
        let key = SigningKey()
        try LocalFileSystem().createDirectories(Self.signingKeyPath.removingLastComponent())
        try Self.writeNew(key.file(comment: "grocerydude") ?? "", to: Self.signingKeyPath)
        console.note("this machine signs its backups from now on: \(key.publicKey.fingerprint)")
        return key
    }

    /// Reads the key that signs backups; `nil` if none is named, and none exists yet.
    func presentSigningKey() throws -> SigningKey? {
        guard let text = settings.signingKey else {
            guard try FileInfo.ifPresent(Self.signingKeyPath) != nil else { return nil }
            return try Self.read(Self.signingKeyPath)
        }
        guard KeySettings.isLiteral(text), let key = SSHPublicKey(line: text) else {
            do {
                return try Self.read(FilePath(text))
            } catch KeyError.badFile(let path, .lockedIdentity) {
                throw KeyError.lockedSigningKey(path)
            }
        }
        guard let socket = ProcessEnvironment.value("SSH_AUTH_SOCK") else {
            throw AgeError.agentFailed(reason: "SSH_AUTH_SOCK is not set")
        }
        return try SigningKey(key, inAgentAt: FilePath(socket))
    }

    /// Reads the public signing key without an agent; returns an empty list if there is no key yet.
    @Sendable
    func ownKeys() throws -> [SSHPublicKey] {
        if let text = settings.signingKey, let key = SSHPublicKey(line: text) { return [key] }
        return try presentSigningKey().map { [$0.publicKey] } ?? []
    }

    /// Reads the trusted keys of other machines.
    ///
    /// - Throws: `AgeError.badSigner`, `FileError`.
    @Sendable
    static func allowedSigners() throws -> AllowedSigners {
        let path = allowedSignersPath
        guard try FileInfo.ifPresent(path) != nil else { return AllowedSigners() }
        if let exposure = Exposure(of: path) { throw KeyError.exposedSigners(exposure) }
        return try AllowedSigners(text(text(of: path), of: path), path: path)
    }

    /// Reads the signatures of earlier keys; returns none, with a warning, if their file cannot be read.
    @Sendable
    private func vouchers() throws -> [String] {
        do {
            return try Self.keptVouchers()
        } catch let error as FileError {
            let reason = explainedWithHint(error)
            console.warn("no earlier key vouches for the signing key: \(reason)")
            return []
        }
    }

    private static func keptVouchers() throws -> [String] {
        try SSHSignature.texts(in: text(of: vouchersPath))
    }

    /// Replaces the present key by a new one.
    ///
    /// The old key vouches for the new one, and stays trusted here.
    ///
    /// - Parameter name: this machine's name, for the line of the old key.
    /// - Returns: the new key.
    /// - Throws: `KeyError.namedSigningKey` if the configuration names the key; `AgeError`, `FileError`.
    func rotateSigningKey(name: String) throws -> SigningKey {
        guard settings.signingKey == nil else { throw KeyError.namedSigningKey }
        guard let old = try presentSigningKey() else { return try newSigningKey() }
        let new = SigningKey()
        let message = SSHMessage(of: Array(new.publicKey.text.utf8))
        let voucher = try old.sign(message, namespace: BackupSignature.keyNamespace).text
        let vouchers = try [voucher] + Self.keptVouchers()
        // With this order, the signing key is trusted here and vouched for at any interruption.
        try Self.trust(old.publicKey, as: name)
        let fileSystem = LocalFileSystem()
        let kept = vouchers.prefix(BackupSignature.vouchersLimit).joined()
        try fileSystem.write(Array(kept.utf8), to: Self.vouchersPath, mode: 0o600)
        try fileSystem.write(
            Array((new.file(comment: "grocerydude") ?? "").utf8),
            to: Self.signingKeyPath,
            mode: 0o600
        )
        return new
    }

    /// Adds a key to the trusted ones, unless its backups are trusted already.
    ///
    /// - Returns: whether it was added.
    @discardableResult
    static func trust(_ key: SSHPublicKey, as name: String) throws -> Bool {
        let known = try allowedSigners().signer(
            of: key,
            namespace: BackupSignature.namespace,
            at: .now
        )
        guard known == nil else { return false }
        var bytes = try text(of: allowedSignersPath)
        if let last = bytes.last, last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
        let line = AllowedSigners.line(for: key, name: name, namespace: BackupSignature.namespace)
        try writeSigners(bytes + Array(line.utf8))
        return true
    }

    /// Removes the lines of some signers from the file of trusted keys.
    static func distrust(_ signers: [AllowedSigners.Signer]) throws {
        let lines = try text(of: allowedSignersPath)
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let gone = Set(signers.map { $0.line - 1 })
        let kept = lines.indices.filter { !gone.contains($0) }.map { lines[$0] }
        try writeSigners(Array(kept.joined(separator: [UInt8(ascii: "\n")])))
    }

    /// Returns the content of a file; empty if it does not exist.
    private static func text(of path: FilePath) throws -> [UInt8] {
        guard try FileInfo.ifPresent(path) != nil else { return [] }
        return try File.contents(of: path, limit: limit)
    }

    private static func writeSigners(_ bytes: [UInt8]) throws {
        let fileSystem = LocalFileSystem()
        try fileSystem.createDirectories(allowedSignersPath.removingLastComponent())
        try fileSystem.write(bytes, to: allowedSignersPath, mode: 0o644)
    }

    private static func read(_ path: FilePath) throws -> SigningKey {
        let info = try FileInfo(of: path.resolved())
        guard info.mode & 0o077 == 0 else { throw KeyError.exposedKey(path) }
        do {
            let bytes = try File.contents(of: path, limit: limit)
            return try SigningKey(openSSH: text(bytes, of: path))
        } catch let error as AgeError {
            throw KeyError.badFile(path, error)
        }
    }

    /// Atomically writes a new file that only its owner can read.
    ///
    /// - Throws: `KeyError.exists` if the file exists; `FileError`.
    static func writeNew(_ text: String, to path: FilePath) throws {
        let fileSystem = LocalFileSystem()
        let new = path.derived(".\(getpid())")
        try fileSystem.write(Array(text.utf8), to: new, mode: 0o600)
        do {
            try fileSystem.move(new, to: path)
        } catch {
            try? fileSystem.remove(new)
            if case FileError.exists = error { throw KeyError.exists(path) }
            throw error
        }
    }
}
