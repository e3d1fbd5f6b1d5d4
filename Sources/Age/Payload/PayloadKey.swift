internal import Crypto
internal import Foundation

/// The key of a file's data, which is encrypted in chunks; each stands for its place, and the last for the end.
struct PayloadKey: Sendable {
    /// Bytes of a chunk before encryption; the last may have fewer.
    static let chunkSize = 64 << 10
    /// Bytes of a chunk in the file.
    static let sealedSize = chunkSize + FileKey.tagSize

    private let key: SymmetricKey

    init(_ key: SymmetricKey) {
        self.key = key
    }

    /// Encrypts a chunk.
    ///
    /// - Parameters:
    ///   - plain: its bytes.
    ///   - sealed: gets them encrypted, and their tag; it is that much longer.
    ///   - index: its place, from 0.
    ///   - isLast: whether none follows.
    /// - Throws: if the library cannot.
    func seal(
        _ plain: UnsafeRawBufferPointer,
        into sealed: UnsafeMutableRawBufferPointer,
        index: Int64,
        isLast: Bool
    ) throws {
        let box = try ChaChaPoly.seal(plain, using: key, nonce: nonce(index, isLast))
        sealed.copyBytes(from: box.ciphertext)
        UnsafeMutableRawBufferPointer(rebasing: sealed[plain.count...]).copyBytes(from: box.tag)
    }

    /// Decrypts a chunk.
    ///
    /// - Parameters:
    ///   - sealed: its bytes in the file.
    ///   - plain: gets them decrypted; without the tag.
    ///   - index: its place, from 0.
    ///   - isLast: whether none follows.
    /// - Returns: `false` if it is not as it was written, or in another place; then `plain` is as it was.
    /// - Throws: if the library cannot.
    func open(
        _ sealed: UnsafeRawBufferPointer,
        into plain: UnsafeMutableRawBufferPointer,
        index: Int64,
        isLast: Bool
    ) throws -> Bool {
        let length = sealed.count - FileKey.tagSize
        let box = try ChaChaPoly.SealedBox(
            nonce: nonce(index, isLast),
            ciphertext: UnsafeRawBufferPointer(rebasing: sealed[..<length]),
            tag: UnsafeRawBufferPointer(rebasing: sealed[length...])
        )
        guard let bytes = try? ChaChaPoly.open(box, using: key) else { return false }
        plain.copyBytes(from: bytes)
        return true
    }

    /// Eleven bytes of the place, and one of the end.
    private func nonce(_ index: Int64, _ isLast: Bool) throws -> ChaChaPoly.Nonce {
        var bytes = [UInt8](repeating: 0, count: 12)
        for place in 0..<8 { bytes[10 - place] = UInt8(truncatingIfNeeded: index >> (8 * place)) }
        bytes[11] = isLast ? 1 : 0
        return try ChaChaPoly.Nonce(data: bytes)
    }
}
