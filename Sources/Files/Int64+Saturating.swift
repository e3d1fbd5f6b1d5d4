extension Int64 {
    /// Returns the sum, or the nearest representable number.
    ///
    /// It is meant for foreign numbers that need not be exact: counts, sizes, times.
    public func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    /// Creates the nearest representable number; 0 for no number.
    public init(saturating number: Double) {
        let whole = Int64(exactly: number.rounded(.towardZero))
        self = whole ?? (number.isNaN ? 0 : number < 0 ? .min : .max)
    }
}
