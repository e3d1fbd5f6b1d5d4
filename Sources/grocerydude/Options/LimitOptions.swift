internal import Backups
internal import ArgumentParser

/// The options that limit the unpacking of an archive without a manifest.
struct LimitOptions: ParsableArguments {
    private static let usual = RestoreLimits()

    @Option(help: ArgumentHelp("The most entries.", valueName: "count"))
    var maxEntries = Self.usual.entries

    @Option(help: ArgumentHelp("The most bytes in all: 500M, 20G, 2T.", valueName: "size"))
    var maxSize = ByteSize(bytes: Self.usual.bytes)

    @Option(
        help: ArgumentHelp(
            "The most bytes for each byte of the archive, beyond the first 64 MiB.",
            valueName: "factor"
        )
    )
    var maxRatio = Self.usual.ratio

    @Option(help: ArgumentHelp("The most components in a path.", valueName: "count"))
    var maxDepth = Self.usual.depth

    var limits: RestoreLimits {
        var limits = Self.usual
        limits.entries = maxEntries
        limits.bytes = maxSize.bytes
        limits.ratio = maxRatio
        limits.depth = maxDepth
        return limits
    }

    func validate() throws {
        for (name, value) in [
            ("entries", Int64(maxEntries)), ("ratio", maxRatio), ("depth", Int64(maxDepth)),
        ]
        where value < 1 {
            throw ValidationError("'--max-\(name)' must be at least 1")
        }
    }
}
