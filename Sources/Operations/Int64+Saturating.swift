extension Int64 {
    /// The sum, or the number next to it that there is.
    ///
    /// For numbers that come from outside and that nobody needs to be exact: counts, sizes, times.
    func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }
}
