internal import Archives
internal import Files

/// The digest of all entries of a backup, in any order: the sum modulo 2²⁵⁶ of a SHA-256 of each.
///
/// A writer sums up all entries that it saw, a reader all entries that it put together. If the sums are equal, the
/// reader has what the writer saw, from whatever archives.
package struct StateDigest: Equatable, CustomStringConvertible {
    /// The words, the least significant first.
    private var words: [UInt64] = [0, 0, 0, 0]

    /// Creates the digest of no entries.
    package init() {}

    /// Parses 64 hexadecimal digits, as `description` writes them.
    package init?(_ text: String) {
        guard let digest = Digest(hex: Array(text.utf8)) else { return nil }
        words = Self.words(of: digest)
    }

    /// Adds an entry.
    ///
    /// - Parameters:
    ///   - attributes: the attributes in the manifest.
    ///   - size: the size of the content in bytes.
    ///   - digests: the SHA-256 of each segment of the content.
    mutating func add(_ attributes: EntryAttributes, size: Int64, digests: some Sequence<Digest>) {
        add(Entry(attributes, size: size, digests: digests).digest(modified: attributes.modified))
    }

    /// Adds the digest of an entry.
    mutating func add(_ digest: Digest) {
        var carry: UInt64 = 0
        for (index, word) in Self.words(of: digest).enumerated() {
            let (sum, first) = words[index].addingReportingOverflow(word)
            let (total, second) = sum.addingReportingOverflow(carry)
            words[index] = total
            carry = (first ? 1 : 0) + (second ? 1 : 0)
        }
    }

    /// The hashed form of an entry, without its time.
    struct Entry {
        private var beginning: [UInt8]
        private var end: [UInt8] = [0]

        init(_ attributes: EntryAttributes, size: Int64, digests: some Sequence<Digest>) {
            beginning = attributes.path.bytes
            beginning.append(0)
            beginning.append(contentsOf: attributes.kind.rawValue.utf8)
            beginning.append(UInt8(ascii: " "))
            beginning.append(decimal: size)
            beginning.append(UInt8(ascii: " "))
            beginning.append(contentsOf: ManifestRecord.octal(attributes.mode).utf8)
            for number in [attributes.owner?.user ?? 0, attributes.owner?.group ?? 0] {
                beginning.append(UInt8(ascii: " "))
                beginning.append(decimal: Int64(number))
            }
            beginning.append(UInt8(ascii: " "))
            for digest in digests {
                digest.withUnsafeBytes { end.append(contentsOf: $0) }
            }
        }

        /// Returns the digest of the entry with a time.
        func digest(modified: Int64) -> Digest {
            var bytes = beginning
            bytes.append(decimal: modified)
            bytes.append(contentsOf: end)
            return bytes.withUnsafeBytes { Digest(of: $0) }
        }
    }

    private static func words(of digest: Digest) -> [UInt64] {
        digest.withUnsafeBytes { bytes in
            (0..<4).map {
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 24 - 8 * $0, as: UInt64.self))
            }
        }
    }

    /// The digest as 64 lower-case hexadecimal digits, the most significant first.
    package var description: String {
        words.reversed().map {
            let digits = String($0, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }
        .joined()
    }
}
