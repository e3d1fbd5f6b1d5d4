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
        return try !capture.access.hasShown(in: table.name)
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
            for id in news.map(\.id) { given.insert(id) }
            try forEachNew {
                try show($0, capture)
                if !isCyclic { try tell($0, &capture) }
            }
            named = []
            // The shadow tells of one; counting those that are many is faster.
            occurrences = occurrences.filter { $0.value > 1 }
        }
        try capture.access.setLeaves(leaves, of: table.name)
    }

    /// Lends the new rows in the order of their ids: so each page of the sidecar is read and written once for
    /// a part of them.
    private func forEachNew(_ body: (New) throws -> Void) throws {
        for row in news.ordered(by: \.id) { try body(row) }
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
            try forEachNew { try tell($0, &capture) }
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

// The first look of a store that joins.
extension TableCapture {
    /// Finds the new rows of a store that joins among the group's, as a person said.
    func match(_ capture: inout Capture) throws {
        guard let mode = capture.options.match, kind == .seed, !news.isEmpty else { return }
        if let places = table.identifyingPlaces {
            if mode == .content { try standBehind(places, &capture) }
            return
        }
        if mode == .key {
            for index in news.indices { news[index].id = capture.makeID() }
            return
        }
        let known = Set(try news.map(\.id).filter { try capture.access.known($0) != nil })
        var matching = try JoinMatching(table, table.columns, but: known, capture.access)
        for index in news.indices where !known.contains(news[index].id) {
            var number: Int64?
            if case .rowID(let rowID) = news[index].key { number = rowID }
            let found =
                if mode == .copy {
                    number.flatMap { matching.take($0) }
                } else {
                    matching.take(
                        try content(of: news[index], table.columns, capture),
                        number: number
                    )
                }
            if let found { news[index].id = found }
        }
    }

    /// Lets rows whose keys nobody has stand behind rows with the same content and other keys.
    private func standBehind(_ places: [Int], _ capture: inout Capture) throws {
        let columns = table.columns.filter { !places.contains($0.place) }
        guard !columns.isEmpty else { return }
        let known = Set(try news.map(\.id).filter { try capture.access.known($0) != nil })
        var matching = try JoinMatching(table, columns, but: known, capture.access)
        for row in news where !known.contains(row.id) {
            let values = try content(of: row, columns, capture)
            // Rows that say nothing are not alike for that.
            guard values.contains(where: { $0 != .null }), let id = matching.take(values) else {
                continue
            }
            capture.standIns[row.id] = id
        }
    }

    private func content(
        of row: New,
        _ columns: [ColumnMapping],
        _ capture: Capture
    ) throws -> [Value] {
        try columns.map { column in
            let value = try capture.wire(row.values[column.index], of: column).named
            // A parent may stand behind another one by now.
            guard case .row(let id) = value, let standIn = capture.standIns[id] else {
                return value
            }
            return .row(standIn)
        }
    }
}
