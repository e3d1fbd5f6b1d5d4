internal import Crypto
internal import Foundation

/// The key of a file's data, which is encrypted in chunks.
///
/// Each chunk is bound to its index, and the last one to the end.
struct PayloadKey: Sendable {
    /// The size in bytes of a chunk before encryption; the last one may be smaller.
    static let chunkSize = 64 << 10
    /// The size in bytes of a chunk in the file.
    static let sealedSize = chunkSize + FileKey.tagSize

    private static let nonceSize = 12

    private let key: SymmetricKey

    init(_ key: SymmetricKey) {
        self.key = key
    }

    /// Encrypts a chunk.
    ///
    /// - Parameters:
    ///   - plain: the bytes of the chunk.
    ///   - index: the index of the chunk, from 0.
    ///   - isLast: whether the chunk is the last one.
    /// - Returns: the encrypted chunk.
    /// - Throws: an error of the library.
    func seal(_ plain: UnsafeRawBufferPointer, index: Int64, isLast: Bool) throws -> SealedChunk {
        let nonce = try ChaChaPoly.Nonce(data: nonce(index, isLast))
        let box = try ChaChaPoly.seal(Self.borrowed(plain), using: key, nonce: nonce)
        return SealedChunk(combined: box.combined, nonceSize: Self.nonceSize)
    }

    /// Decrypts a chunk.
    ///
    /// - Parameters:
    ///   - sealed: the bytes of the chunk in the file.
    ///   - plain: receives the decrypted bytes, without the tag.
    ///   - index: the index of the chunk, from 0.
    ///   - isLast: whether the chunk is the last one.
    /// - Returns: `false` if the chunk was changed or moved; `plain` does not change then.
    /// - Throws: an error of the library.
    func open(
        _ sealed: UnsafeRawBufferPointer,
        into plain: UnsafeMutableRawBufferPointer,
        index: Int64,
        isLast: Bool
    ) throws -> Bool {
        // The bytes are contiguous: the library processes several pieces byte by byte.
        var combined = Data(capacity: Self.nonceSize + sealed.count)
        combined.append(contentsOf: nonce(index, isLast))
        combined.append(Self.borrowed(sealed))
        let box = try ChaChaPoly.SealedBox(combined: combined)
        guard let bytes = try? ChaChaPoly.open(box, using: key) else { return false }
        bytes.copyBytes(to: plain, count: bytes.count)
        return true
    }

    /// Returns a view of bytes that the caller keeps while it is used.
    private static func borrowed(_ bytes: UnsafeRawBufferPointer) -> Data {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return Data() }
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start),
            count: bytes.count,
            deallocator: .none
        )
    }

    /// Returns eleven bytes of the index, and one that marks the last chunk.
    private func nonce(_ index: Int64, _ isLast: Bool) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.nonceSize)
        for place in 0..<8 { bytes[10 - place] = UInt8(truncatingIfNeeded: index >> (8 * place)) }
        bytes[11] = isLast ? 1 : 0
        return bytes
    }
}

/// An encrypted chunk as the library returns it.
struct SealedChunk {
    fileprivate let combined: Data
    fileprivate let nonceSize: Int

    /// Passes the bytes for the file, with the tag.
    func withBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        // The nonce precedes the rest.
        try combined.withUnsafeBytes { try body(.init(rebasing: $0[nonceSize...])) }
    }
}
