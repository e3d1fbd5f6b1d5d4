internal import Files

/// A number of bytes as typed, in the same decimal units as in the output.
struct ByteSize: Equatable {
    var bytes: Int64

    /// The size in a form that can be typed: `20G`.
    var text: String {
        for (unit, size) in [("T", 1_000_000_000_000), ("G", 1_000_000_000), ("M", 1_000_000)]
        where bytes != 0 && bytes % Int64(size) == 0 { return "\(bytes / Int64(size))\(unit)" }
        return "\(bytes)"
    }
}

extension ByteSize {
    init?(_ argument: String) {
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
}
