/// When baselines and bundles are written, and how long what they stand for is kept; times in milliseconds.
public struct UpkeepRules: Sendable {
    private static let hour: Int64 = 3_600_000

    /// Change files without a baseline from which on one is written.
    public var files = 512
    /// Their bytes, likewise; of a baseline of more than twice as many, half of its bytes.
    public var bytes: Int64 = 1 << 20
    /// How long others leave a baseline to the device with the least id.
    public var deference = 24 * hour
    /// How long a device counts that is not heard.
    public var attendance = 7 * 24 * hour
    /// Change files of this device from which on they become one.
    public var bundledFiles = 64
    /// How old they are then.
    public var bundledAge = 48 * hour
    /// How long files are kept that others stand for.
    public var keeping = 7 * 24 * hour
    /// How often a device looks after the long values that it sent.
    public var blobRound = 7 * 24 * hour
    /// How long a long value is kept that no row refers to.
    public var blobKeeping = 30 * 24 * hour
    /// How often a device tells of itself.
    public var cardAge = 24 * hour
    /// How long a file that was published may not be listed yet.
    public var patience = hour

    public init() {}
}
