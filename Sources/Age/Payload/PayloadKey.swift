internal import Crypto
internal import Foundation

/// The key of a file's data, which is encrypted in chunks; each stands for its place, and the last for the end.
struct PayloadKey: Sendable {
    /// Bytes of a chunk before encryption; the last may have fewer.
    static let chunkSize = 64 << 10
    /// Bytes of a chunk in the file.
    static let sealedSize = chunkSize + FileKey.tagSize

    private static let nonceSize = 12

    private let key: SymmetricKey

    init(_ key: SymmetricKey) {
        self.key = key
    }

    /// Encrypts a chunk.
    ///
    /// - Parameters:
    ///   - plain: its bytes.
    ///   - index: its place, from 0.
    ///   - isLast: whether none follows.
    /// - Returns: the chunk in its encrypted form.
    /// - Throws: if the library cannot.
    func seal(_ plain: UnsafeRawBufferPointer, index: Int64, isLast: Bool) throws -> SealedChunk {
        let nonce = try ChaChaPoly.Nonce(data: nonce(index, isLast))
        let box = try ChaChaPoly.seal(Self.borrowed(plain), using: key, nonce: nonce)
        return SealedChunk(combined: box.combined, nonceSize: Self.nonceSize)
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
        // In one piece: the library takes several apart byte by byte.
        var combined = Data(capacity: Self.nonceSize + sealed.count)
        combined.append(contentsOf: nonce(index, isLast))
        combined.append(Self.borrowed(sealed))
        let box = try ChaChaPoly.SealedBox(combined: combined)
        guard let bytes = try? ChaChaPoly.open(box, using: key) else { return false }
        bytes.copyBytes(to: plain, count: bytes.count)
        return true
    }

    /// Returns bytes that somebody else keeps, and that are used at once.
    private static func borrowed(_ bytes: UnsafeRawBufferPointer) -> Data {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return Data() }
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start),
            count: bytes.count,
            deallocator: .none
        )
    }

    /// Eleven bytes of the place, and one of the end.
    private func nonce(_ index: Int64, _ isLast: Bool) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.nonceSize)
        for place in 0..<8 { bytes[10 - place] = UInt8(truncatingIfNeeded: index >> (8 * place)) }
        bytes[11] = isLast ? 1 : 0
        return bytes
    }
}

/// An encrypted chunk, as the library gives it.
struct SealedChunk {
    fileprivate let combined: Data
    fileprivate let nonceSize: Int

    /// Lends its bytes in the file, and their tag.
    func withBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        // The nonce stands before the rest.
        try combined.withUnsafeBytes { try body(.init(rebasing: $0[nonceSize...])) }
    }
}
