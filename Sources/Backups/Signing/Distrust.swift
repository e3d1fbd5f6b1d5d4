extension Backup {
    /// Whether its signer is unknown, as of an encrypted backup that no key here opens.
    public var isAnonymous: Bool { signature == nil && !isForeign }

    /// Requires a trusted signature when this backup is opened, if its signer is not known yet.
    public mutating func requireTrust() { distrust = nil }

    /// Whether its manifest was read and has no trusted signature.
    var isKnownAsDistrusted: Bool { distrust != nil && !isAnonymous }

    /// Notes that it does not count, because a backup that it is built on does not.
    mutating func distrust(base: Backup) {
        distrust = base.distrust.map { Distrust(reason: $0.reason, base: base.displayName) }
    }

    /// The reason why a backup does not count, because it has no trusted signature.
    public struct Distrust: Sendable, Equatable, CustomStringConvertible {
        /// The reason, as the end of a sentence about the backup, or about `base`.
        package var reason: String
        /// The backup that it is built on and that does not count.
        public fileprivate(set) var base: String?
        /// Whether it is plain beside trusted backups that are encrypted.
        fileprivate(set) var isPlain = false

        public var description: String {
            let ending = isPlain ? ", and it is not encrypted, as the others are" : ""
            return
                (base.map { "it is built on '\($0)', which does not count: \(reason)" } ?? reason)
                + ending
        }

        /// The words for a row of a list.
        public var mark: String {
            if isPlain { return "not encrypted, as the others are" }
            return base == nil ? Self.unsigned : "built on one that is \(Self.unsigned)"
        }

        /// The words for backups that no trusted key signed.
        public static let unsigned = "not signed by a known machine"
    }
}

extension [Backup] {
    /// Notes which backups without a trusted signature are plain beside trusted ones that are encrypted.
    mutating func notePlain() {
        guard contains(where: { $0.isEncrypted && $0.distrust == nil }) else { return }
        for index in indices where !self[index].isEncrypted {
            self[index].distrust?.isPlain = true
        }
    }
}
