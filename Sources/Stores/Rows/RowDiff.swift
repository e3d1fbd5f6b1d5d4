internal import Files

/// The differences between two states of a table, in the order of their rows' keys.
///
/// Values are compared by storage class and bytes, and never as in SQL, where 1 equals 1.0, and 'milk' may equal
/// 'MILK'.
public struct RowDiff: ~Copyable {
    /// A difference in one row.
    public enum Change: Equatable, Sendable {
        /// The row of `new` is not in `old`.
        case added
        /// The row of `old` is not in `new`.
        case removed
        /// Both have the row; the numbers are the indices of the `pairs` that differ.
        case changed([Int])
    }

    /// The cursor of the old state, at the row that was removed or changed.
    public private(set) var old: TableCursor
    /// The cursor of the new state, at the row that was added or changed.
    public private(set) var new: TableCursor
    /// The compared columns: indices in the columns of `old`, and in those of `new`.
    public let pairs: [(old: Int, new: Int)]

    private var hasOld = false
    private var hasNew = false
    private var needsOld = true
    private var needsNew = true

    /// Takes two cursors before their first rows, with keys of the same kind.
    ///
    /// - Parameters:
    ///   - old: the state before.
    ///   - new: the state after.
    ///   - pairs: the columns to compare; by default those of the same names.
    public init(
        from old: consuming TableCursor,
        to new: consuming TableCursor,
        pairs: [(old: Int, new: Int)]? = nil
    ) {
        precondition(old.isByRowID == new.isByRowID, "keys of two kinds have no order")
        self.pairs = pairs ?? RowDiff.pairs(old, new)
        self.old = old
        self.new = new
    }

    /// Advances to the next difference.
    ///
    /// - Returns: `nil` at the end.
    /// - Throws: `StoreError`.
    public mutating func next() throws -> Change? {
        while true {
            if needsOld { hasOld = try old.next() }
            if needsNew { hasNew = try new.next() }
            (needsOld, needsNew) = (false, false)
            guard hasOld || hasNew else { return nil }
            let order = !hasOld ? 1 : !hasNew ? -1 : old.compareKey(with: new)
            needsOld = order <= 0 && hasOld
            needsNew = order >= 0 && hasNew
            if order < 0 { return .removed }
            if order > 0 { return .added }
            let changed = try changedPairs()
            if !changed.isEmpty { return .changed(changed) }
        }
    }

    private func changedPairs() throws -> [Int] {
        var changed: [Int] = []
        for (place, pair) in pairs.enumerated()
        where try !old.hasSameValue(pair.old, as: new, pair.new) {
            changed.append(place)
        }
        return changed
    }

    private static func pairs(
        _ old: borrowing TableCursor,
        _ new: borrowing TableCursor
    ) -> [(old: Int, new: Int)] {
        let newNames = new.columns.map { new.table.columns[$0].name.foldedIdentifier }
        var pairs: [(old: Int, new: Int)] = []
        for (index, place) in old.columns.enumerated() {
            let name = old.table.columns[place].name.foldedIdentifier
            if let other = newNames.firstIndex(of: name) { pairs.append((index, other)) }
        }
        return pairs
    }
}
