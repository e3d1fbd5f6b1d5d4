/// A secret that a person remembers; its memory is cleared when nobody holds it any more.
public final class Passphrase: Sendable {
    // Written before anybody else has it, and when nobody has.
    nonisolated(unsafe) private let bytes: UnsafeMutableRawBufferPointer

    /// Copies a secret; `nil` if it is empty.
    ///
    /// - Parameter secret: its bytes, in UTF-8 if age is to understand it.
    public init?(_ secret: some Collection<UInt8>) {
        guard !secret.isEmpty else { return nil }
        bytes = .allocate(byteCount: secret.count, alignment: 1)
        bytes.copyBytes(from: secret)
    }

    deinit {
        for index in bytes.indices { bytes[index] = 0 }
        // Seen by the optimizer, so that it does not leave the loop out.
        withExtendedLifetime(bytes.first) {}
        bytes.deallocate()
    }

    func withUnsafeBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try body(UnsafeRawBufferPointer(bytes))
    }

    /// Returns whether another one is the same.
    public func isSame(as other: Passphrase) -> Bool {
        withUnsafeBytes { own in other.withUnsafeBytes { own.elementsEqual($0) } }
    }
}
