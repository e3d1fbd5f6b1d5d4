/// The last line of a manifest; see `Documentation/ArchiveFormat.md`, 4.3.
public struct ManifestTrailer: Codable, Sendable {
    /// Everything that could not be done as it should.
    public var problems: [Problem]
    /// How many entries there are, without the manifest.
    public var entries: Int
    /// How many of them are files; only in an increment.
    public var fileCount: Int?
    /// Bytes in all files before compression.
    public var bytes: Int64
    /// The digest of all content.
    public var content: String
    /// The digest of all entries, in whatever archive they are, as `StateDigest` makes it.
    ///
    /// It is `nil` in an archive that no other is built on.
    public var state: String?
}
