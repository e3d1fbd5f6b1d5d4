internal import Crypto
internal import Foundation

/// The digest of bytes to sign.
public struct SSHMessage: Sendable, Equatable {
    /// The hash algorithms of OpenSSH signatures.
    public enum Algorithm: String, Sendable {
        case sha256, sha512
    }

    let algorithm: Algorithm
    let digest: [UInt8]

    /// A hasher of bytes that arrive in parts.
    public struct Hasher: Sendable {
        private let algorithm: Algorithm
        private var short = SHA256()
        private var long = SHA512()

        /// Starts a hash; this program signs with SHA-256.
        public init(_ algorithm: Algorithm = .sha256) { self.algorithm = algorithm }

        public mutating func update(_ bytes: UnsafeRawBufferPointer) {
            switch algorithm {
            case .sha256: short.update(bufferPointer: bytes)
            case .sha512: long.update(bufferPointer: bytes)
            }
        }

        /// The message of all bytes so far.
        public var message: SSHMessage {
            switch algorithm {
            case .sha256: SSHMessage(algorithm: algorithm, digest: Array(short.finalize()))
            case .sha512: SSHMessage(algorithm: algorithm, digest: Array(long.finalize()))
            }
        }
    }

    private init(algorithm: Algorithm, digest: [UInt8]) {
        (self.algorithm, self.digest) = (algorithm, digest)
    }

    /// Hashes bytes.
    public init(of bytes: [UInt8], _ algorithm: Algorithm = .sha256) {
        var hasher = Hasher(algorithm)
        bytes.withUnsafeBytes { hasher.update($0) }
        self = hasher.message
    }
}
