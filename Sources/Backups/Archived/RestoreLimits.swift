/// Limits of what an archive may unpack to, for those without a manifest of ours.
public struct RestoreLimits: Sendable {
    /// The quantity that is limited.
    public enum Kind: String, Sendable, CaseIterable {
        case entries, size, ratio, depth
    }

    /// The most entries: directories with a million files are rare, and each costs memory.
    public var entries = 1_000_000
    /// The most bytes in all; every archive must fit into the free space besides.
    public var bytes: Int64 = 1_000_000_000_000
    /// The most bytes in all, for each byte of the archive; asked only beyond `freeBytes`.
    ///
    /// Databases shrink to a third, logs to a twentieth; deflate's utmost is 1032.
    public var ratio: Int64 = 200
    /// The bytes that are allowed whatever the ratio: an empty database is mostly zeros.
    public var freeBytes: Int64 = 64 << 20
    /// The most components in a path: PATH_MAX is 4096 bytes, and real trees have a dozen.
    public var depth = 128

    /// The limits by default; a limit must stay above 0.
    public init() {}
}
