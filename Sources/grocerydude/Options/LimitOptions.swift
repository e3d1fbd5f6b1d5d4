internal import ArgumentParser
internal import Files
internal import Operations

/// How much an archive without a manifest may unpack to.
struct LimitOptions: ParsableArguments {
    private static let usual = RestoreLimits()

    @Option(help: ArgumentHelp("The most entries.", valueName: "count"))
    var maxEntries = Self.usual.entries

    @Option(
        help: ArgumentHelp("The most bytes in all: 500M, 20G, 2T.", valueName: "size")
    )
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

/// A count of bytes as people type it, in decimal units as we print them.
struct ByteSize: ExpressibleByArgument, Equatable {
    var bytes: Int64

    init(bytes: Int64) {
        self.bytes = bytes
    }

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let unit = argument.dropFirst(digits.count).uppercased()
        let factors: [String: Int64] = [
            "": 1, "B": 1, "K": 1000, "KB": 1000, "M": 1_000_000, "MB": 1_000_000,
            "G": 1_000_000_000, "GB": 1_000_000_000, "T": 1_000_000_000_000,
            "TB": 1_000_000_000_000,
        ]
        guard let number = Int64(digits), let factor = factors[unit] else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow else { return nil }
        self.bytes = bytes
    }

    var defaultValueDescription: String { byteCount(bytes) }
}
