internal import CXXHash

/// Finds the sectors of a file that may have changed: XXH3 under a secret
/// (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md).
///
/// Nobody who does not know the secret can write rows whose change is missed. A SHA-256 of the whole segment
/// proves what the hashes find.
public struct SectorHasher: Sendable {
    /// Bytes of a secret.
    public static let secretLength = 192

    /// Bytes in each sector but a file's last; a divisor of a segment.
    public let sectorSize: Int
    private let secret: [UInt8]

    /// Takes a secret of `secretLength` random bytes.
    public init(sectorSize: Int, secret: [UInt8]) {
        precondition(secret.count >= cxxhash_least_secret() && Segment.size % sectorSize == 0)
        self.sectorSize = sectorSize
        self.secret = secret
    }

    /// Returns the bytes of a sector that a file of some size is hashed by: 4,096 for a large one, so that
    /// their hashes are not.
    public static func sectorSize(forSize size: Int64) -> Int {
        switch size {
        case ...(1 << 30): 256
        case ...(4 << 30): 512
        case ...(16 << 30): 1024
        default: 4096
        }
    }

    /// Returns the hash of each sector of a segment.
    func hashes(of segment: UnsafeRawBufferPointer) -> [UInt64] {
        guard let base = segment.baseAddress, !segment.isEmpty else { return [] }
        let count = (segment.count + sectorSize - 1) / sectorSize
        return [UInt64](unsafeUninitializedCapacity: count) { hashes, initialized in
            cxxhash_sectors(
                base.assumingMemoryBound(to: UInt8.self),
                segment.count,
                sectorSize,
                secret,
                secret.count,
                hashes.baseAddress
            )
            initialized = count
        }
    }
}
