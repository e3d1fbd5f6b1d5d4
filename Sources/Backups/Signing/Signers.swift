public import Age
public import Foundation
internal import Synchronization

/// The key that signs the backups of a run, and the trusted keys.
///
/// Keys are read only when they are needed, and are kept until the run ends.
public final class Signers: Sendable {
    private struct Known {
        var own: Result<SigningKey?, any Error>?
        var ownKeys: Result<[SSHPublicKey], any Error>?
        var allowed: Result<AllowedSigners, any Error>?
    }

    /// The closures that read the keys.
    public struct Source: Sendable {
        /// A closure that returns the key of this machine, and creates it if there is none; `nil` if no key can be kept
        /// here.
        public var signingKey: @Sendable () throws -> SigningKey?
        /// A closure that returns the public key of this machine; empty if it has none yet.
        public var ownKeys: @Sendable () throws -> [SSHPublicKey]
        /// A closure that returns the trusted keys of others.
        public var allowed: @Sendable () throws -> AllowedSigners
        /// A closure that returns the signatures by which earlier keys of this machine vouch for its present one.
        public var vouchers: @Sendable () throws -> [String]

        public init(
            signingKey: @escaping @Sendable () throws -> SigningKey?,
            ownKeys: @escaping @Sendable () throws -> [SSHPublicKey],
            allowed: @escaping @Sendable () throws -> AllowedSigners = { AllowedSigners() },
            vouchers: @escaping @Sendable () throws -> [String] = { [] }
        ) {
            self.signingKey = signingKey
            self.ownKeys = ownKeys
            self.allowed = allowed
            self.vouchers = vouchers
        }
    }

    private let source: Source
    private let now: Date
    private let known = Mutex(Known())

    /// Creates signers from closures that read the keys.
    ///
    /// - Parameters:
    ///   - source: the closures.
    ///   - now: the time at which a key has to be valid.
    public init(_ source: Source, at now: Date) {
        (self.source, self.now) = (source, now)
    }

    /// Signs a manifest; returns `nil` if this machine cannot keep a key.
    ///
    /// - Throws: `AgeError`; what reading the key throws.
    func sign(_ message: SSHMessage) throws -> SSHSignature? {
        let key = try known.withLock { known in
            let result = known.own ?? Result { try source.signingKey() }
            known.own = result
            // The key may have been created just now, in place of a damaged one.
            if let key = try result.get() {
                let others = (try? known.ownKeys?.get()) ?? []
                known.ownKeys = .success(others.filter { $0 != key.publicKey } + [key.publicKey])
            }
            return try result.get()
        }
        return try key?.sign(message, namespace: BackupSignature.namespace)
    }

    /// Returns the signatures by which earlier keys vouch for the signing key; `nil` if there are none.
    package func vouchers() throws -> [String]? {
        let vouchers = try source.vouchers()
        return vouchers.isEmpty ? nil : vouchers
    }

    /// Returns the name of the trusted owner of one of these keys; `nil` if there is none.
    ///
    /// - Throws: `AgeError.badSigner`; what reading the keys throws.
    package func name(ofAnyOf keys: [SSHPublicKey]) throws -> String? {
        guard !keys.isEmpty else { return nil }
        return try known.withLock { known in
            if try Self.own(&known, source).contains(where: keys.contains) { return Self.ownName }
            return try Self.allowed(&known, source).signers(of: keys, at: now).first?.name
        }
    }

    /// The name of this machine's own key.
    package static let ownName = "this machine"

    /// Returns whether no key of another machine is trusted and this machine has no key.
    public func knowNobody() throws -> Bool {
        try known.withLock { known in
            try Self.own(&known, source).isEmpty && Self.allowed(&known, source).signers.isEmpty
        }
    }

    /// Checks that all trusted keys can be read.
    ///
    /// - Throws: `AgeError.badSigner`; what reading the keys throws.
    package func check() throws {
        try known.withLock { known in
            _ = try Self.own(&known, source)
            _ = try Self.allowed(&known, source)
        }
    }

    private static func own(_ known: inout Known, _ source: Source) throws -> [SSHPublicKey] {
        let own = known.ownKeys ?? Result { try source.ownKeys() }
        known.ownKeys = own
        return try own.get()
    }

    private static func allowed(_ known: inout Known, _ source: Source) throws -> AllowedSigners {
        let allowed = known.allowed ?? Result { try source.allowed() }
        known.allowed = allowed
        return try allowed.get()
    }
}

extension AllowedSigners {
    /// Returns the trusted signers of backups that own some of the keys.
    fileprivate func signers(of keys: [SSHPublicKey], at now: Date) -> [Signer] {
        keys.compactMap { signer(of: $0, namespace: BackupSignature.namespace, at: now) }
    }
}
