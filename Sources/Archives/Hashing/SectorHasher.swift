internal import CXXHash

/// A hasher that finds the sectors of a file that may have changed: XXH3 with a secret
/// (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md).
///
/// Without the secret, nobody can write rows whose change stays unnoticed. A SHA-256 of the whole segment confirms the
/// result.
public struct SectorHasher: Sendable {
    /// The length of a secret in bytes.
    public static let secretLength = 192

    /// The size in bytes of each sector except a file's last one; a divisor of a segment's size.
    public let sectorSize: Int
    private let secret: [UInt8]

    /// Creates a hasher with a secret of `secretLength` random bytes.
    public init(sectorSize: Int, secret: [UInt8]) {
        precondition(secret.count >= cxxhash_least_secret() && Segment.size % sectorSize == 0)
        self.sectorSize = sectorSize
        self.secret = secret
    }

    /// Returns the sector size in bytes for a file of the given size: 4,096 for a large file, so that its hashes do not
    /// take too much space.
    public static func sectorSize(forSize size: Int64) -> Int {
        switch size {
        case ...(1 << 30): 256
        case ...(4 << 30): 512
        case ...(16 << 30): 1024
        default: 4096
        }
    }

    /// The single hash that represents a whole segment of zeros, since a file with holes may have many of them.
    private static let hashesOfZeros: [UInt64] = [0]

    /// Returns the hash of each sector of a segment, or a single hash for a whole segment of zeros.
    func hashes(of segment: UnsafeRawBufferPointer) -> [UInt64] {
        ZeroSegment.isEqual(segment) ? Self.hashesOfZeros : sectorHashes(of: segment)
    }

    /// Returns the sector size in bytes in a segment with the given number of hashes.
    public func sectorSize(ofHashes count: Int) -> Int { count == 1 ? Segment.size : sectorSize }

    /// Returns whether a part of a segment, which begins at a sector, still has its hashes.
    ///
    /// - Parameters:
    ///   - bytes: the part, which ends at the end of a sector.
    ///   - offset: the part's offset in its segment.
    ///   - hashes: the hashes of the segment.
    /// - Returns: whether all sectors of the part have their hashes.
    public func accepts(
        _ bytes: UnsafeRawBufferPointer,
        at offset: Int,
        _ hashes: [UInt64]
    ) -> Bool {
        if offset == 0, self.hashes(of: bytes) == hashes { return true }
        let found = sectorHashes(of: bytes)
        return hashes.dropFirst(offset / sectorSize).prefix(found.count).elementsEqual(found)
    }

    private func sectorHashes(of segment: UnsafeRawBufferPointer) -> [UInt64] {
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
