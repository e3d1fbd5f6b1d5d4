package import Age
internal import Archives
internal import Files
internal import Synchronization

/// The proof of who made a backup, according to the signed bytes of its manifest; it implies no trust.
package enum BackupSignature: Sendable, Equatable {
    /// The manifest is not signed, or there is none.
    case none
    /// The first key signed the manifest; each other key vouches for one before it.
    case by([SSHPublicKey])
    /// The signature is invalid.
    case invalid(reason: String)

    /// The namespace of signatures of manifests.
    package static let namespace = "grocerydude-backup"
    /// The namespace of signatures by which an old key vouches for a new one.
    package static let keyNamespace = "grocerydude-key"
    /// The maximum number of earlier keys that vouch.
    package static let vouchersLimit = 16

    /// Reads the signature of an archive, and the whole manifest if there is a signature.
    ///
    /// - Parameters:
    ///   - reader: the archive.
    ///   - vouchers: the vouching signatures in the manifest's header.
    /// - Throws: `ArchiveError` if the archive is damaged; what reading it throws.
    init(of reader: ArchiveReader, vouchers: [String]) throws {
        guard reader.origin == .ours, reader.isSealed, let index = reader.markIndex else {
            self = .none
            return
        }
        do {
            let entry = try reader.entry(at: index + 1)
            guard entry.size <= Int64(SSHSignature.limit) else {
                throw AgeError.badSignature(reason: "it is too long")
            }
            let signature = try SSHSignature(text: reader.contents(of: entry))
            var hasher = SSHMessage.Hasher(signature.algorithm)
            try reader.read(reader.entry(at: index)) { part in
                hasher.update(part)
                return true
            }
            guard signature.isValid(for: hasher.message, namespace: Self.namespace) else {
                throw AgeError.badSignature(
                    reason: signature.namespace == Self.namespace
                        ? "it is not of this manifest" : "it is of another kind of thing"
                )
            }
            self = .by([signature.key] + Self.voucherKeys(for: signature.key, vouchers))
        } catch AgeError.badSignature(let reason) {
            self = .invalid(reason: reason)
        }
    }

    /// Returns the keys that vouch for another, directly or through others; invalid vouchers are skipped.
    private static func voucherKeys(for key: SSHPublicKey, _ vouchers: [String]) -> [SSHPublicKey] {
        var keys = [key]
        var rest = vouchers.prefix(vouchersLimit).compactMap {
            try? SSHSignature(text: Array($0.utf8))
        }
        while let index = rest.firstIndex(where: { voucher in
            !keys.contains(voucher.key)
                && keys.contains {
                    let message = SSHMessage(of: Array($0.text.utf8), voucher.algorithm)
                    return voucher.isValid(for: message, namespace: keyNamespace)
                }
        }) {
            keys.append(rest.remove(at: index).key)
        }
        return Array(keys.dropFirst())
    }
}

extension BackupSignature {
    /// The keys in base 64, separated by spaces, or the reason if the signature is invalid.
    var words: String? {
        switch self {
        case .none: nil
        case .by(let keys):
            keys.map { String($0.text.split(separator: " ")[1]) }.joined(separator: " ")
        case .invalid(let reason): "\(Self.mark)\(reason)"
        }
    }

    /// The prefix of `words` for an invalid signature.
    private static let mark = "no: "

    /// Parses the result of `words`; returns `nil` if a word is no key.
    init?(words: String) {
        if words.hasPrefix(Self.mark) {
            self = .invalid(reason: String(words.dropFirst(Self.mark.count)))
            return
        }
        let keys = Self.parsed.withLock { parsed -> [SSHPublicKey]? in
            if let known = parsed[words] { return known }
            let parts = words.split(separator: " ")
            let keys = parts.compactMap { SSHPublicKey(line: "\(SSHPublicKey.kind) \($0)") }
            guard !keys.isEmpty, keys.count == parts.count else { return nil }
            if parsed.count == Self.parsedLimit { parsed = [:] }
            parsed[words] = keys
            return keys
        }
        guard let keys else { return nil }
        self = .by(keys)
    }

    /// The keys that were parsed, by their words.
    ///
    /// A folder has many backups of few keys, and to parse one takes an exponentiation on the curve.
    private static let parsed = Mutex<[String: [SSHPublicKey]]>([:])
    private static let parsedLimit = 1000

    /// The key that signed; `nil` if none did.
    package var key: SSHPublicKey? {
        guard case .by(let keys) = self else { return nil }
        return keys.first
    }
}

extension ArchiveReader {
    /// Reads the whole content of an entry that is known to be short.
    func contents(of entry: Entry) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try read(entry) { part in
            bytes.append(contentsOf: part)
            return true
        }
        return bytes
    }
}
