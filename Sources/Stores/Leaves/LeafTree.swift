/// The leaves of a table's b-tree, and those parts of the tree that another state of the store has as well.
public struct LeafTree: Sendable {
    /// A part of the tree below one page.
    struct Part {
        var page: Int64
        /// The rowids that it may hold.
        var rowIDs: ClosedRange<Int64>
        /// Its leaves among all.
        var leaves: Range<Int>
    }

    /// In the order of their rowids.
    public let leaves: [Leaf]
    /// The largest parts of which all pages are in shared segments, by their first pages.
    private let shared: [Int64: Part]

    init(leaves: [Leaf], shared: [Part]) {
        self.leaves = leaves
        self.shared = Dictionary(shared.map { ($0.page, $0) }) { first, _ in first }
    }

    /// Returns the leaves of a part that is the same in the other state; `nil` if there is none.
    func leaves(below page: Int64, of rowIDs: ClosedRange<Int64>) -> ArraySlice<Leaf>? {
        guard let part = shared[page], part.rowIDs == rowIDs else { return nil }
        return leaves[part.leaves]
    }
}
