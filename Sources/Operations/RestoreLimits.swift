internal import Files
internal import SystemPackage

/// How much an archive may unpack to.
///
/// One with a manifest of ours says that itself, and is held to it; these hold for the others.
public struct RestoreLimits: Sendable {
    /// The most entries.
    public var entries = 1_000_000
    /// The most bytes in all, for each byte of the archive; asked only beyond `freeBytes`.
    public var ratio: Int64 = 200
    /// What every archive may unpack to.
    public var freeBytes: Int64 = 64 << 20
    /// The most components in a path.
    public var depth = 128

    public init() {}
}
