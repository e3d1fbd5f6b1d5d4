/// A leaf page of a table: the rowids that it may hold, and a hash of its content.
///
/// The pages above it bound its rowids, so a page that grows over an emptied neighbour is another leaf.
public struct Leaf: Hashable, Sendable {
    public let rowIDs: ClosedRange<Int64>
    /// The hash of the page, and of the overflow pages of its rows.
    public let hash: UInt64

    public init(rowIDs: ClosedRange<Int64>, hash: UInt64) {
        self.rowIDs = rowIDs
        self.hash = hash
    }

    /// Returns the ranges of rowids outside of which two states of a table are the same.
    ///
    /// - Parameters:
    ///   - old: the leaves of one state, in order.
    ///   - new: the leaves of the other state, hashed with the same key.
    /// - Returns: the ranges in order, with a gap between any two.
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
