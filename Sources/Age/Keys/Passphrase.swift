public import SystemPackage

/// A secret that a person remembers; its memory is cleared when the last reference is released.
public final class Passphrase: Sendable {
    // The bytes are written only before the object is shared, and after its last reference is released.
    nonisolated(unsafe) private let bytes: UnsafeMutableRawBufferPointer
    let mayTake: @Sendable (_ file: FilePath, _ memory: Int64) throws -> Bool

    /// Copies a secret; `nil` if it is empty.
    ///
    /// - Parameters:
    ///   - secret: the bytes of the secret; age requires UTF-8.
    ///   - mayTake: whether trying the secret on a file may take more work than usual, and so many bytes of memory.
    public init?(
        _ secret: some Collection<UInt8>,
        mayTake: @escaping @Sendable (_ file: FilePath, _ memory: Int64) throws -> Bool = { _, _ in
            false
        }
    ) {
        self.mayTake = mayTake
        guard !secret.isEmpty else { return nil }
        bytes = .allocate(byteCount: secret.count, alignment: 1)
        bytes.copyBytes(from: secret)
    }

    deinit {
        for index in bytes.indices { bytes[index] = 0 }
        // This use keeps the optimizer from removing the loop.
        withExtendedLifetime(bytes.first) {}
        bytes.deallocate()
    }

    func withUnsafeBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try body(UnsafeRawBufferPointer(bytes))
    }

    /// Returns whether both secrets are equal.
    public func isSame(as other: Passphrase) -> Bool {
        withUnsafeBytes { own in other.withUnsafeBytes { own.elementsEqual($0) } }
    }
}
