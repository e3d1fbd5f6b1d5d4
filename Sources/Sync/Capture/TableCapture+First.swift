internal import Changes
internal import Stores

// The first look at a table: nothing of it is shown, so all rows are new. They are taken by parts, since a
// whole table may not fit into memory.
extension TableCapture {
    /// Returns whether all rows are new, and none of them has to be found among others first.
    ///
    /// - Throws: `SidecarError`.
    func isFirst(_ capture: Capture) throws -> Bool {
        guard capture.options.match == nil, !capture.options.isAfterAccident else { return false }
        return try capture.access.shownCount(in: table.name) == 0
    }

    /// Gives ids to all rows, and shows them; tells them too, unless rows may refer to others that have no
    /// ids yet.
    ///
    /// - Throws: `StoreError`, `SidecarError`.
    func takeFirst(
        _ snapshot: StoreSnapshot,
        _ capture: inout Capture,
        isCyclic: Bool
    ) throws {
        let leaves = try self.leaves(snapshot, capture.access)
        try forEachPart(of: capture.options.partRows, snapshot) {
            for index in news.indices {
                news[index].id = try id(of: news[index], &capture, isCyclic)
            }
            try showNews(capture)
            hasShown = true
            // The shadow tells of one; counting those that are many is faster.
            occurrences = occurrences.filter { $0.value > 1 }
            if !isCyclic { try finish(&capture) }
        }
        try capture.access.setLeaves(leaves, of: table.name)
    }

    /// Tells all rows, which have ids by now.
    ///
    /// - Throws: `StoreError`, `SidecarError`.
    func tellFirst(_ snapshot: StoreSnapshot, _ capture: inout Capture) throws {
        try forEachPart(of: capture.options.partRows, snapshot) {
            for index in news.indices {
                guard let id = try capture.access.id(at: news[index].key, in: table.name) else {
                    throw capture.access.damaged("a row has no id")
                }
                news[index].id = id
            }
            try finish(&capture)
        }
    }

    /// Reads all rows, and runs a closure whenever `news` has a part of them.
    private func forEachPart(
        of count: Int,
        _ snapshot: StoreSnapshot,
        _ body: () throws -> Void
    ) throws {
        var cursor = try snapshot.rows(of: table.schema, order: table.order, rowIDs: nil)
        while try cursor.next() {
            if hasNullKey(cursor) { continue }
            let row = try new(at: cursor)
            // A part is done once it is known whether it has the last row.
            greatestKey = row.key
            if news.count == count {
                try body()
                news = []
            }
            news.append(row)
        }
        try body()
        news = []
    }
}
