internal import Files
internal import SystemPackage

/// How much an archive may unpack to.
///
/// One with a manifest of ours says that itself, and is held to it; these hold for the others.
public struct RestoreLimits: Sendable {
    /// What is limited.
    public enum Kind: String, Sendable, CaseIterable {
        case entries, size, ratio, depth
    }

    /// The most entries: directories with a million files are rare, and each costs memory.
    public var entries = 1_000_000
    /// The most bytes in all; what is free where they go is asked besides, also of our own archives.
    public var bytes: Int64 = 1_000_000_000_000
    /// The most bytes in all, for each byte of the archive; asked only beyond `freeBytes`.
    ///
    /// Databases shrink to a third, logs to a twentieth; deflate's utmost is 1032.
    public var ratio: Int64 = 200
    /// What every archive may unpack to whatever its ratio: an empty database is mostly zeros.
    public var freeBytes: Int64 = 64 << 20
    /// The most components in a path: PATH_MAX is 4096 bytes, and real trees have a dozen.
    public var depth = 128

    /// The limits as they are by default; whoever sets one keeps it above 0.
    public init() {}
}
