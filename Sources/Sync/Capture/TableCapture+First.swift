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
            // In the order of ids, each page of the sidecar is read and written once per part.
            for row in news.ordered(by: \.id) {
                if try !isCyclic && capture.sendNew(row, of: table, kind, sharing: shared) {
                    continue
                }
                if !isCyclic { try send(row, &capture) }
                try show(row, capture)
            }
            named = []
            // The shadow shows that a row occurs once; counts are kept only for repeated rows, since that is faster.
            occurrences = occurrences.filter { $0.value > 1 }
        }
        try capture.access.shadow.setLeaves(leaves, of: table.name)
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
            for row in news.ordered(by: \.id) { try send(row, &capture) }
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
        if mode == .copy { return try matchCopy(&matching, known, &capture) }
        for index in news.indices where !known.contains(news[index].id) {
            let values = try content(of: news[index], table.columns, capture)
            if let id = matching.take(values, number: news[index].key.number) {
                news[index].id = id
            }
        }
    }

    /// Matches rows by their numbers, up to the last that both stores have alike.
    ///
    /// Since the copy was made, both may have given the numbers above it to new rows.
    private func matchCopy(
        _ matching: inout JoinMatching,
        _ known: Set<RowID>,
        _ capture: inout Capture
    ) throws {
        var last = Int64.min
        var found: [(index: Int, number: Int64, likeness: Likeness)] = []
        for index in news.indices {
            guard let number = news[index].key.number else { continue }
            if known.contains(news[index].id) {
                // A deleted row had any number.
                let row = try capture.access.states.known(news[index].id)
                let isHere = row?.state.isTombstone == true || row?.delta.hint == .integer(number)
                if isHere { last = max(last, number) }
                continue
            }
            let values = try content(of: news[index], table.columns, capture)
            guard let likeness = matching.likeness(at: number, with: values) else { continue }
            if likeness.provesNumber { last = max(last, number) }
            found.append((index, number, likeness))
        }
        for (index, number, likeness) in found where likeness.mayBeOfSame(isCommon: number <= last)
        {
            if let id = matching.take(number) { news[index].id = id }
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
