internal import Changes
internal import Stores

// The first capture of a table: its shadow is empty, so all rows are new. They are read in parts, since a whole
// table may not fit into memory.
extension TableCapture {
    /// Returns whether all rows are new, and none of them has to be matched with known rows first.
    ///
    /// - Throws: `SidecarError`.
    func isFirst(_ capture: Capture) throws -> Bool {
        guard capture.options.match == nil, !capture.options.isAfterAccident else { return false }
        return try !capture.access.shadow.hasRows(in: table.name)
    }

    /// Gives ids to all rows, and adds them to the shadow.
    ///
    /// It also sends them, unless they may refer to rows without ids.
    ///
    /// - Throws: `StoreError`, `SidecarError`.
    func takeFirst(
        _ snapshot: StoreSnapshot,
        _ capture: inout Capture,
        isCyclic: Bool
    ) throws {
        let leaves = try self.leaves(snapshot, capture.access)
        let shared = try capture.access.sharedNumbers(of: table)
        try forEachPart(of: capture.options.partRows, snapshot) {
            for index in news.indices {
                news[index].id = try id(of: news[index], &capture, isCyclic)
            }
            for id in news.map(\.id) { given.insert(id) }
            try forEachNew {
                if isCyclic { return try show($0, capture) }
                if try capture.sendNew($0, of: table, kind, sharing: shared) { return }
                try send($0, &capture)
                try show($0, capture)
            }
            named = []
            // The shadow shows that a row occurs once; counts are kept only for repeated rows, since that is faster.
            occurrences = occurrences.filter { $0.value > 1 }
        }
        try capture.access.shadow.setLeaves(leaves, of: table.name)
    }

    /// Passes the new rows in the order of their ids.
    ///
    /// So each page of the sidecar is read and written once per part.
    private func forEachNew(_ body: (New) throws -> Void) throws {
        for row in news.ordered(by: \.id) { try body(row) }
    }

    /// Sends all rows, once they have ids.
    ///
    /// - Throws: `StoreError`, `SidecarError`.
    func sendFirst(_ snapshot: StoreSnapshot, _ capture: inout Capture) throws {
        try forEachPart(of: capture.options.partRows, snapshot) {
            for index in news.indices {
                guard let id = try capture.access.shadow.id(at: news[index].key, in: table.name)
                else {
                    throw capture.access.damaged("a row has no id")
                }
                news[index].id = id
            }
            try forEachNew { try send($0, &capture) }
        }
    }

    /// Reads all rows, and runs a closure whenever `news` holds a part of them.
    private func forEachPart(
        of count: Int,
        _ snapshot: StoreSnapshot,
        _ body: () throws -> Void
    ) throws {
        var cursor = try snapshot.rows(of: table.schema, order: table.order, rowIDs: nil)
        while try cursor.next() {
            if hasNullKey(cursor) { continue }
            let row = try new(at: cursor)
            // A part ends only when the next row has been read, so that it is known whether it has the last row.
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

// The first capture of a store that joins a group.
extension TableCapture {
    /// Matches the new rows of a joining store with the group's rows, in the way that a person chose.
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
        let known = Set(try news.map(\.id).filter { try capture.access.states.known($0) != nil })
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

    /// Finds stand-ins for rows whose keys the group does not know: rows with the same content and other keys.
    ///
    /// References in a key are content: a link between other rows is another link.
    private func standBehind(_ places: [Int], _ capture: inout Capture) throws {
        let columns = table.columns.filter { column in
            !places.contains(column.place) || column.parent != nil || column.isReferenceByValue
        }
        guard !columns.isEmpty else { return }
        let known = Set(try news.map(\.id).filter { try capture.access.states.known($0) != nil })
        var matching = try JoinMatching(table, columns, but: known, capture.access)
        for row in news where !known.contains(row.id) {
            let values = try content(of: row, columns, capture)
            // Rows that contain only NULL do not count as the same.
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
        let wires = try Dictionary(
            zip(table.columns.map(\.name), capture.wires(row.values, of: table))
        ) { $1 }
        return columns.map { column in
            let value = column.compared((wires[column.name] ?? .null).named)
            // The parent may already have a stand-in.
            guard case .row(let id) = value, let standIn = capture.standIns[id] else {
                return value
            }
            return .row(standIn)
        }
    }
}
