public import SystemPackage

/// The choices that a backup leaves which may be built on others.
public struct IncrementOptions: Sendable {
    /// The database with what the last backups held; it may be lost, and then a whole backup is made.
    public var statePath: FilePath
    /// Whether a whole one is made in any case.
    public var isFull = false
    /// Whether every file is read, however its times stand.
    public var rereads = false
    /// The longest `fullEvery`: what needs are not known is kept for that long; see `Dependence`.
    public static let mostFullEvery = Duration.seconds(30 * 86_400)

    /// How long others may be built on a whole one.
    public var fullEvery = Duration.seconds(7 * 86_400)
    /// Bytes of the least archive that others are built on: a smaller one is as soon written in whole.
    public var leastFullSize: Int64 = 16 << 20

    public init(statePath: FilePath) {
        self.statePath = statePath
    }
}
