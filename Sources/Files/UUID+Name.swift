internal import Crypto
public import Foundation

extension UUID {
    /// Creates the UUID of a name, which is the same on every machine: version 5 (RFC 9562, section 5.5).
    ///
    /// - Parameters:
    ///   - name: any text; its UTF-8 is hashed.
    ///   - namespace: the UUID of the names' kind.
    public init(named name: String, in namespace: UUID) {
        // The RFC requires SHA-1. It is not used for security, only to distribute names evenly.
        var hasher = Insecure.SHA1()
        withUnsafeBytes(of: namespace.uuid) { hasher.update(bufferPointer: $0) }
        hasher.update(data: Array(name.utf8))
        var bytes = Array(hasher.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x50
        bytes[8] = bytes[8] & 0x3F | 0x80
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
