internal import Changes
internal import Stores

/// The comparison of one table with its shadow.
final class TableCapture {
    /// A row that the shadow has not.
    struct New {
        let key: RowKey
        /// Of the stored columns.
        let values: [StoredValue]
        let image: RowImage
        var id = RowID.zero
    }

    let table: TableMapping
    let kind: Capture.Kind
    private let numbers: [Int64]
    var news: [New] = []
    private var changed: [(old: ShownRow, values: [StoredValue], image: RowImage)] = []
    private var gone: [ShownRow] = []
    private var greatestKey: RowKey?
    /// Whether the shadow had rows, and the ids of those that are gone.
    private var hasShown = false
    private var goneIDs: Set<RowID> = []
    /// Rows that were found again, at other keys.
    private var found: Set<RowID> = []

    init(_ table: TableMapping, _ kind: Capture.Kind, _ capture: Capture) throws {
        self.table = table
        self.kind = kind
        numbers = try capture.access.numbers(of: table)
    }

    // MARK: - Differences

    /// Reads the table and its shadow side by side: all of both, or the pages that are new.
    func scan(_ snapshot: StoreSnapshot, _ capture: inout Capture) throws {
        let access = capture.access
        let leaves =
            table.order == .local
            ? try snapshot.leaves(of: table.schema, key: access.leafKey()) : nil
        let known = try access.leaves(of: table.name)
        if let leaves, !known.isEmpty {
            for range in Leaf.changes(from: known, to: leaves) {
                try scan(range, snapshot, access)
            }
            greatestKey = try snapshot.greatestRowID(of: table.schema).map { .rowID($0) }
        } else {
            try scan(nil, snapshot, access)
        }
        try access.setLeaves(leaves, of: table.name)
        try splitReused(capture)
        if capture.options.meaning == .merge { try splitOthers() }
        try guardRows(capture)
    }

    private func scan(
        _ range: ClosedRange<Int64>?,
        _ snapshot: StoreSnapshot,
        _ access: SidecarAccess
    ) throws {
        var cursor = try snapshot.rows(of: table.schema, order: table.order, rowIDs: range)
        var shadow = try access.shownCursor(in: table.name, rowIDs: range)
        var old = try shadow.next()
        while try cursor.next() {
            let key = cursor.key
            while let row = old, row.key < key {
                gone.append(row)
                old = try shadow.next()
            }
            if hasNullKey(cursor) { continue }
            let values = try cursor.columns.indices.map { try cursor.value($0) }
            let image = table.image(values, numbers)
            greatestKey = key
            guard let row = old, row.key == key else {
                news.append(New(key: key, values: values, image: image))
                continue
            }
            if row.image != image { changed.append((row, values, image)) }
            old = try shadow.next()
        }
        while let row = old {
            gone.append(row)
            old = try shadow.next()
        }
    }

    /// A row with NULL in its key is the same row as no other: it does not sync.
    private func hasNullKey(_ cursor: borrowing TableCursor) -> Bool {
        guard let places = table.identifyingPlaces else { return false }
        return cursor.columns.indices.contains {
            places.contains(cursor.columns[$0]) && cursor.storageClass($0) == .null
        }
    }

    /// A key that SQLite gave out again is another row: the table's highest, and nothing is as it was.
    private func splitReused(_ capture: Capture) throws {
        guard table.identity == .content, !table.neverReusesKeys, table.columns.count >= 3,
            let last = changed.last, last.old.key == greatestKey
        else { return }
        let parts = Dictionary(try last.old.image.parts().map { ($0.column, $0.part) }) { $1 }
        let isOther = zip(table.columns, numbers).allSatisfy { column, number in
            parts[number] != column.part(last.values)
        }
        guard isOther else { return }
        changed.removeLast()
        gone.append(last.old)
        news.append(New(key: last.old.key, values: last.values, image: last.image))
    }

    /// Takes a row of which most is otherwise for another one at its key.
    ///
    /// In a store that was replaced it was inserted in another history: as an edit it would yield, and be
    /// lost.
    private func splitOthers() throws {
        guard table.identity == .content else { return }
        let all = changed
        changed = []
        for row in all {
            let parts = Dictionary(try row.old.image.parts().map { ($0.column, $0.part) }) { $1 }
            let differing = zip(table.columns, numbers).filter { column, number in
                parts[number] != column.part(row.values)
            }
            if differing.count * 2 <= table.columns.count {
                changed.append(row)
            } else {
                gone.append(row.old)
                news.append(New(key: row.old.key, values: row.values, image: row.image))
            }
        }
    }

    /// More than half of the rows, and 20 or more, are not deleted without a word.
    private func guardRows(_ capture: Capture) throws {
        guard !capture.options.acceptsChanges, gone.count >= 20 else { return }
        let count = try capture.access.shownCount(in: table.name)
        guard Int64(gone.count) * 2 > count else { return }
        throw SyncDecision.manyGone(
            table: table.schema.name,
            rows: Int64(gone.count),
            of: count
        )
    }

    // MARK: - Ids

    /// Gives ids to the new rows, and shows them, so that others can refer to them.
    func identify(_ capture: inout Capture, isCyclic: Bool) throws {
        var occurrences: [RowID: UInt64] = [:]
        var match: RowMatch?
        if capture.options.isAfterAccident, table.identifyingPlaces == nil {
            match = try RowMatch(table, gone: gone, capture.access)
        }
        hasShown = try capture.access.shownCount(in: table.name) > 0
        goneIDs = Set(gone.map(\.id))
        for index in news.indices {
            let values = news[index].values
            let wire =
                try match == nil
                ? []
                : table.columns.map {
                    try capture.wire(values[$0.index], of: $0).named
                }
            if let id = match?.take(wire, key: news[index].key) {
                news[index].id = id
                found.insert(id)
            } else {
                news[index].id = try id(of: news[index], &occurrences, &capture, isCyclic)
            }
        }
        try self.match(&capture)
        // A key of the shadow may be another row's now.
        for row in gone { try capture.access.hide(row, in: table.name) }
        for row in news {
            let known = try capture.access.known(row.id)
            let length = known.map { max(1, $0.state.causalLength | 1) } ?? 1
            let shown = ShownRow(
                key: row.key,
                id: row.id,
                causalLength: length,
                image: row.image
            )
            try capture.access.show(shown, in: table.name)
            try capture.access.forgetFormerKey(of: row.id)
        }
    }

    private func id(
        of row: New,
        _ occurrences: inout [RowID: UInt64],
        _ capture: inout Capture,
        _ isCyclic: Bool
    ) throws -> RowID {
        if let places = table.identifyingPlaces {
            let key = try places.map { place in
                let column = table.columns.first { $0.place == place }
                guard let column else { throw capture.access.damaged("a key has no column") }
                return (column.name, try capture.wire(row.values[column.index], of: column))
            }
            return RowID(key: key, in: table.name)
        }
        if kind == .seed { return try contentID(of: row, &occurrences, capture, isCyclic) }
        return try formerID(of: row, capture) ?? capture.makeID()
    }

    private func contentID(
        of row: New,
        _ occurrences: inout [RowID: UInt64],
        _ capture: Capture,
        _ isCyclic: Bool
    ) throws -> RowID {
        var content: [(column: ColumnName, value: ContentValue)] = []
        for column in table.columns {
            let value = row.values[column.index]
            if value == column.defaultValue ?? .null { continue }
            let isInside = isCyclic && column.parent != nil && value != .null
            content.append(
                (
                    column.name,
                    isInside ? .cyclicReference : .value(try capture.wire(value, of: column))
                )
            )
        }
        let first = RowID(content: content, in: table.name, occurrence: 0)
        var occurrence = occurrences[first, default: 0]
        var id = first
        while true {
            if occurrence > 0 {
                id = RowID(content: content, in: table.name, occurrence: occurrence)
            }
            occurrence += 1
            // A seed that was interrupted has given ids to rows that are alike.
            guard hasShown, try capture.access.shown(id) != nil, !goneIDs.contains(id) else {
                break
            }
        }
        occurrences[first] = occurrence
        return id
    }

    /// A row that was deleted and is back at its key is the same row, unless SQLite gave the key out again.
    private func formerID(of row: New, _ capture: Capture) throws -> RowID? {
        if row.key == greatestKey, !table.neverReusesKeys,
            capture.options.meaning == .edits
        {
            return nil
        }
        return try capture.access.formerID(at: row.key, in: table.name)
    }

    // MARK: - Deltas

    /// Tells what is new, changed and gone.
    func finish(_ capture: inout Capture) throws {
        for row in gone {
            try capture.access.markAltered(row.id)
            if !found.contains(row.id) { try delete(row, &capture) }
        }
        for row in news {
            // Of one that nobody knows yet, the state tells.
            if try capture.access.known(row.id) != nil {
                try capture.access.markAltered(row.id)
            }
            try insert(row, &capture)
        }
        for row in changed {
            try capture.access.markAltered(row.old.id)
            try update(row.old, row.values, row.image, &capture)
        }
        capture.result.shadowed += gone.count + news.count + changed.count
    }

    private func delete(_ row: ShownRow, _ capture: inout Capture) throws {
        guard capture.options.meaning == .edits else {
            return try capture.access.markDirty(row.id)
        }
        for id in try [row.id] + capture.access.standingBehind(row.id) {
            guard let known = try capture.access.known(id), known.state.isAlive,
                id != row.id || known.state.causalLength == row.causalLength
            else { continue }
            let length = known.state.causalLength + 1
            let state = RowState(causalLength: length, deletion: capture.stamp)
            try capture.tell(RowDelta(id, state), in: table.name)
            if id != row.id { try capture.access.markDirty(id) }
        }
        try capture.access.wakeHeld()
    }

    private func insert(_ row: New, _ capture: inout Capture) throws {
        let stamp = kind == .seed ? Stamp.zero : capture.stamp
        let known = try capture.access.known(row.id)
        if try yields(row, known, capture) { return }
        var length: UInt32 = 1
        if let state = known?.state, kind == .edits || state.isAlive {
            length = state.isAlive ? state.causalLength : state.causalLength + 1
        }
        var cells = try table.columns.map { column in
            Cell(column.name, stamp, try capture.wire(row.values[column.index], of: column))
        }
        if let standIn = capture.standIns[row.id] {
            cells.append(Cell(.same, capture.stamp, .row(standIn)))
            try capture.access.markDirty(row.id)
        }
        if capture.options.matches, let state = known?.state, state.isAlive {
            // It was found again: only what differs is an edit.
            cells.removeAll { state.cell($0.column)?.value == $0.value.named }
            if cells.isEmpty { return try capture.access.markDirty(row.id) }
            let delta = RowState(causalLength: length, birth: nil, cells: cells)
            return try capture.tell(RowDelta(row.id, delta), in: table.name)
        }
        let state = RowState(causalLength: length, birth: stamp, cells: cells)
        var hint: Value?
        if table.isNumbered, case .rowID(let number) = row.key { hint = .integer(number) }
        if let known, !known.state.isAlive, kind == .seed {
            // It was deleted elsewhere, and goes here too.
            try capture.access.markDirty(row.id)
        }
        try capture.tell(RowDelta(row.id, state, hint: hint), in: table.name)
        try capture.access.wakeHeld()
    }

    /// A new row that says nothing after an accident: the state has it, or the local data yield.
    private func yields(_ row: New, _ known: KnownRow?, _ capture: Capture) throws -> Bool {
        guard capture.options.meaning != .edits, kind != .seed else { return false }
        guard capture.options.meaning == .container || known?.state.isAlive == true else {
            return false
        }
        try capture.access.markDirty(row.id)
        return true
    }

    private func update(
        _ old: ShownRow,
        _ values: [StoredValue],
        _ image: RowImage,
        _ capture: inout Capture
    ) throws {
        let parts = Dictionary(try old.image.parts().map { ($0.column, $0.part) }) { $1 }
        let known = try capture.access.known(old.id)
        var cells: [Cell] = []
        for (column, number) in zip(table.columns, numbers) {
            let value = values[column.index]
            if let part = parts[number] {
                if part == column.part(values) { continue }
            } else if value == column.defaultValue ?? .null {
                // A new column with its default is no edit.
                continue
            }
            let wire = try capture.wire(value, of: column)
            // What has won is no edit either: it was written, and a crash kept us from knowing.
            if known?.state.cell(column.name)?.value == wire { continue }
            cells.append(Cell(column.name, capture.stamp, wire))
        }
        var row = old
        row.image = image
        try capture.access.show(row, in: table.name)
        if capture.options.meaning != .edits { return try capture.access.markDirty(old.id) }
        guard !cells.isEmpty else { return }
        for id in try capture.access.standingBehind(old.id) {
            let same = Cell(.same, capture.stamp, .row(old.id))
            guard let state = try capture.access.known(id)?.state, state.isAlive else { continue }
            let delta = RowState(causalLength: state.causalLength, birth: nil, cells: [same])
            try capture.tell(RowDelta(id, delta), in: table.name)
        }
        if known?.state.isTombstone == true {
            let lost = try table.columns.map { column in
                (column.name, try capture.wire(values[column.index], of: column))
            }
            try capture.access.keepLost(lost, of: old.id)
        }
        try edit(old, cells, known, &capture)
        try capture.access.wakeHeld()
    }

    private func edit(
        _ old: ShownRow,
        _ cells: [Cell],
        _ known: KnownRow?,
        _ capture: inout Capture
    ) throws {
        if let known, known.state.causalLength != old.causalLength {
            // The row was deleted, or is another by now, elsewhere: the edit is lost, and listed.
            let kind = known.state.isAlive ? Conflict.Kind.inserted : .deleted
            for cell in cells {
                try capture.access.note(
                    Conflict(kind, cell, of: known, lost: cell, by: capture.stamp.device)
                )
            }
            try capture.access.markDirty(old.id)
            return
        }
        for cell in cells {
            // It overwrites what had arrived and nobody here has seen.
            guard let won = known?.state.cell(cell.column), try capture.access.isUnwritten(old.id),
                won.stamp.device != capture.stamp.device, let known
            else { continue }
            try capture.access.note(Conflict(.overwritten, won, of: known, winner: cell))
        }
        let delta = RowState(causalLength: old.causalLength, birth: nil, cells: cells)
        try capture.tell(RowDelta(old.id, delta), in: table.name)
    }
}

extension Value {
    /// The value as a state has it: a long one by its name.
    var named: Value {
        let delta = RowDelta(
            RowID(high: 0, low: 1),
            RowState(birth: nil, cells: [Cell(.same, .zero, self)])
        ).movingLongValues { _, _ in }
        return delta.state.cells[0].value
    }
}
