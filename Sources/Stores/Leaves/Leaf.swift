/// A page of a table's rows: the rowids that may be in it, and a hash of all that is.
///
/// The rowids are bounded by the pages above it, so that a page that grows over an emptied neighbour is
/// another leaf.
public struct Leaf: Hashable, Sendable {
    public let rowIDs: ClosedRange<Int64>
    /// Of the page, and of the pages on which its rows go on.
    public let hash: UInt64

    public init(rowIDs: ClosedRange<Int64>, hash: UInt64) {
        self.rowIDs = rowIDs
        self.hash = hash
    }

    /// Returns the ranges of rowids outside of which two states of a table are the same.
    ///
    /// - Parameters:
    ///   - old: the leaves of one state, in their order.
    ///   - new: those of the other, hashed with the same key.
    /// - Returns: ranges in their order, of which none touch.
    public static func changes(from old: [Leaf], to new: [Leaf]) -> [ClosedRange<Int64>] {
        let known = Set(old)
        var ranges: [ClosedRange<Int64>] = []
        for leaf in new where !known.contains(leaf) {
            if let last = ranges.last, last.upperBound != .max,
                last.upperBound + 1 == leaf.rowIDs.lowerBound
            {
                ranges[ranges.count - 1] = last.lowerBound...leaf.rowIDs.upperBound
            } else {
                ranges.append(leaf.rowIDs)
            }
        }
        return ranges
    }
}
