internal import Remotes

/// The rules for writing baselines and bundles, and for keeping the files that they cover; times are in
/// milliseconds.
public struct UpkeepRules: Sendable {
    private static let hour: Int64 = 3_600_000

    /// The number of uncovered change files above which a baseline is written.
    public var files = 512
    /// The bytes of uncovered change files above which a baseline is written; half of the newest baseline's bytes,
    /// if that is more.
    public var bytes: Int64 = 1 << 20
    /// The time for which the others leave a baseline to the device with the least id.
    public var deference = 24 * hour
    /// The time for which a silent device counts.
    public var attendance = 7 * 24 * hour
    /// The number of this device's change files above which they are bundled.
    public var bundledFiles = 64
    /// The age from which change files are bundled.
    public var bundledAge = 48 * hour
    /// The time for which covered files are kept.
    public var keeping = 7 * 24 * hour
    /// The time between two checks of the long values that a device sent.
    public var blobRound = 7 * 24 * hour
    /// The time for which a long value is kept that no row refers to.
    public var blobKeeping = 30 * 24 * hour
    /// The time for which rows and values are kept that sync took out of the store.
    public var removedKeeping = 30 * 24 * hour
    /// The most by which they grow older from one run to the next: a clock that is once ahead must not end them.
    public var removedAging = 24 * hour
    /// The greatest number of their bytes.
    public var removedBytes: Int64 = 256 << 20
    /// The least time between two cards of a device.
    public var cardAge = 24 * hour
    /// The time for which a lost file is left to its author.
    public var patience = hour
    /// The time for which a published file may not be listed yet; a folder of this machine lists it at once.
    public var listingDelay = hour

    public init() {}

    /// Returns the rules for a container: a folder of this machine lists a file at once.
    func fitting(_ container: Container) -> UpkeepRules {
        var rules = self
        if container.root.directory != nil { rules.listingDelay = 0 }
        return rules
    }
}
