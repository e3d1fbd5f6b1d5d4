package import Archives
package import Files

/// The sums over all entries of a backup, which may be in several archives.
package struct BackupTally {
    package private(set) var entries = 0
    package private(set) var files = 0
    /// The sum of the sizes of all files.
    package private(set) var bytes: Int64 = 0
    package private(set) var state = StateDigest()
    /// The digest of the state without modification times.
    package private(set) var content = StateDigest()

    package init() {}

    /// Adds an entry; see `StateDigest`.
    package mutating func add(
        _ attributes: EntryAttributes,
        size: Int64,
        digests: some Sequence<Digest>
    ) {
        entries += 1
        if attributes.kind == .file {
            files += 1
            bytes += size
        }
        let entry = StateDigest.Entry(attributes, size: size, digests: digests)
        state.add(entry.digest(modified: attributes.modified))
        content.add(entry.digest(modified: 0))
    }
}
