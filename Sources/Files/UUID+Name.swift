internal import Crypto
public import Foundation

extension UUID {
    /// Makes the UUID of a name, which is the same on every machine: version 5 (RFC 9562, section 5.5).
    ///
    /// - Parameters:
    ///   - name: any text; its UTF-8 counts.
    ///   - namespace: the UUID of all names of its kind.
    public init(named name: String, in namespace: UUID) {
        // The RFC asks for SHA-1. Nothing is kept safe by it: it only spreads names evenly.
        var hasher = Insecure.SHA1()
        withUnsafeBytes(of: namespace.uuid) { hasher.update(bufferPointer: $0) }
        hasher.update(data: Array(name.utf8))
        var bytes = Array(hasher.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x50
        bytes[8] = bytes[8] & 0x3F | 0x80
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
