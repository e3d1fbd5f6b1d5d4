extension [UInt8] {
    /// Appends a number as decimal digits.
    ///
    /// Interpolation takes a second for many thousands of numbers.
    public mutating func append(decimal number: Int64) {
        // A sign and at most 19 digits, from the end.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { space in
            var (rest, start) = (number.magnitude, space.count)
            repeat {
                start -= 1
                space[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if number < 0 {
                start -= 1
                space[start] = UInt8(ascii: "-")
            }
            append(contentsOf: UnsafeBufferPointer(rebasing: space[start...]))
        }
    }
}
