internal import Crypto
internal import Foundation

/// The key of one file, used for nothing else.
///
/// swift-crypto clears the memory of a key when its last reference is released.
struct FileKey: Sendable {
    static let size = 16
    /// The number of bytes that encryption adds.
    static let tagSize = 16
    static let nonceSize = 16

    private let key: SymmetricKey

    /// Creates a new key.
    init() {
        key = SymmetricKey(size: SymmetricKeySize(bitCount: 8 * Self.size))
    }

    /// Returns new random bytes, which make the keys of two files' data different.
    static func makeNonce() -> [UInt8] {
        SymmetricKey(size: SymmetricKeySize(bitCount: 8 * nonceSize)).withUnsafeBytes { Array($0) }
    }

    /// Unwraps a key; `nil` if it was wrapped with another one.
    init?(opening body: [UInt8], with wrappingKey: SymmetricKey) throws {
        let box = try ChaChaPoly.SealedBox(
            nonce: Self.noNonce(),
            ciphertext: body.dropLast(Self.tagSize),
            tag: body.suffix(Self.tagSize)
        )
        guard var bytes = try? ChaChaPoly.open(box, using: wrappingKey) else { return nil }
        self.init(taking: &bytes)
    }

    /// Copies the bytes of a key, and clears them.
    init(taking bytes: inout Data) {
        key = SymmetricKey(data: bytes)
        bytes.resetBytes(in: bytes.indices)
    }

    /// Wraps the key with another one, which wraps nothing else, so the nonce may be zero.
    func wrapped(with wrappingKey: SymmetricKey) throws -> [UInt8] {
        let box = try key.withUnsafeBytes {
            try ChaChaPoly.seal($0, using: wrappingKey, nonce: Self.noNonce())
        }
        return Array(box.ciphertext + box.tag)
    }

    func withUnsafeBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try key.withUnsafeBytes(body)
    }

    /// Returns the code that authenticates a header.
    func code(of text: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: text, using: headerKey))
    }

    /// Returns whether a code authenticates a header, in constant time.
    func isCode(_ code: [UInt8], of text: [UInt8]) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: text, using: headerKey)
    }

    private var headerKey: SymmetricKey { derived(salt: [], info: "header") }

    /// Returns the key of the data for a nonce.
    func payloadKey(nonce: [UInt8]) -> PayloadKey {
        PayloadKey(derived(salt: nonce, info: "payload"))
    }

    private func derived(salt: [UInt8], info: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key,
            salt: salt,
            info: Array(info.utf8),
            outputByteCount: 32
        )
    }

    private static func noNonce() throws -> ChaChaPoly.Nonce {
        try ChaChaPoly.Nonce(data: [UInt8](repeating: 0, count: 12))
    }
}
