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
    let numbers: [Int64]
    var news: [New] = []
    var changed: [(old: ShownRow, values: [StoredValue], image: RowImage)] = []
    var gone: [ShownRow] = []
    var greatestKey: RowKey?
    /// Whether the shadow had rows, and the ids of those that are gone.
    private var hasShown = false
    private var goneIDs: Set<RowID> = []
    /// How many rows with a content there are, by the id of the first.
    var occurrences: [RowID: UInt64] = [:]
    /// Rows that were found again, at other keys.
    var found: Set<RowID> = []
    /// Ids that were made of columns the map names, of rows that are not shown yet.
    var named: Set<RowID> = []
    /// Those of rows that a first look has shown.
    var given = IDSieve()
    /// The columns that were read otherwise at the capture before.
    let turned: Set<ColumnName>
    /// Rows that were deleted elsewhere, are here as they were, and are to be everywhere.
    var revived: [New] = []
    /// Rows of a migration that were here, were deleted, and were put back: none of them came with the schema.
    var returned: Set<RowID> = []

    init(_ table: TableMapping, _ kind: Capture.Kind, _ capture: Capture) throws {
        self.table = table
        self.kind = kind
        numbers = try capture.access.numbers(of: table)
        let names = capture.options.change.columns[table.name] ?? []
        turned = Set(table.columns.map(\.name).filter { names.contains($0.description) })
    }

    // MARK: - Differences

    /// Reads the table and its shadow side by side: all of both, or the pages that are new.
    func scan(_ snapshot: StoreSnapshot, _ capture: inout Capture) throws {
        let access = capture.access
        let leaves = try self.leaves(snapshot, access)
        let known = try access.leaves(of: table.name)
        if let leaves, !known.isEmpty, turned.isEmpty, !capture.options.revives {
            for range in Leaf.changes(from: known, to: leaves) {
                try scan(range, snapshot, capture)
            }
            greatestKey = try snapshot.greatestRowID(of: table.schema).map { .rowID($0) }
        } else {
            try scan(nil, snapshot, capture)
        }
        try access.setLeaves(leaves, of: table.name)
        try splitRenamed(capture)
        try splitReused(capture)
        if capture.options.meaning == .merge { try splitOthers() }
        // At its key is another row by now.
        let left = Set(gone.map(\.id))
        revived.removeAll { left.contains($0.id) }
        try guardRows(capture)
    }

    /// Returns the fingerprints of the table's leaves; `nil` if its rows are not in the order of rowids.
    func leaves(_ snapshot: StoreSnapshot, _ access: SidecarAccess) throws -> [Leaf]? {
        guard table.order == .local else { return nil }
        return try snapshot.leaves(of: table.schema, key: access.leafKey())
    }

    private func scan(
        _ range: ClosedRange<Int64>?,
        _ snapshot: StoreSnapshot,
        _ capture: Capture
    ) throws {
        var cursor = try snapshot.rows(of: table.schema, order: table.order, rowIDs: range)
        var shadow = try capture.access.shownCursor(in: table.name, rowIDs: range)
        var old = try shadow.next()
        while try cursor.next() {
            let key = cursor.key
            while let row = old, row.key < key {
                gone.append(row)
                old = try shadow.next()
            }
            greatestKey = key
            guard let row = old, row.key == key else {
                if !hasNullKey(cursor) { news.append(try self.new(at: cursor)) }
                continue
            }
            if hasNullKey(cursor) {
                gone.append(row)
                old = try shadow.next()
                continue
            }
            try compare(row, self.new(at: cursor), capture)
            old = try shadow.next()
        }
        while let row = old {
            gone.append(row)
            old = try shadow.next()
        }
    }

    /// Compares a row that is still there.
    private func compare(_ old: ShownRow, _ new: New, _ capture: Capture) throws {
        if old.image != new.image || !turned.isEmpty {
            changed.append((old, new.values, new.image))
        }
        guard capture.options.revives, let known = try capture.access.known(old.id),
            known.state.isTombstone, known.state.causalLength > old.causalLength
        else { return }
        var row = new
        row.id = old.id
        revived.append(row)
    }

    /// Reads the row at which a cursor stands.
    func new(at cursor: borrowing TableCursor) throws -> New {
        let values = try cursor.columns.indices.map { try cursor.value($0) }
        return New(key: cursor.key, values: values, image: table.image(values, numbers))
    }

    /// A row with NULL in its key is the same row as no other: it does not sync, unless it has another key.
    func hasNullKey(_ cursor: borrowing TableCursor) -> Bool {
        guard let places = table.identifyingPlaces, !table.keepsRenamed else { return false }
        return cursor.columns.indices.contains {
            places.contains(cursor.columns[$0]) && cursor.storageClass($0) == .null
        }
    }

    /// Takes a row that is called otherwise for another one, if nothing else identifies it.
    private func splitRenamed(_ capture: Capture) throws {
        guard table.isKeyless, let places = table.identifyingPlaces else { return }
        try split { parts, values in
            zip(table.columns, numbers).contains { column, number in
                places.contains(column.place) && parts[number] != column.part(values)
            }
        }
    }

    /// A key that SQLite gave out again is another row: the table's highest, and nothing is as it was.
    private func splitReused(_ capture: Capture) throws {
        guard table.hasOwnIDs, !table.neverReusesKeys, table.columns.count >= 3,
            let last = changed.last, last.old.key == greatestKey
        else { return }
        let parts = try last.old.image.partsByColumn()
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
        guard table.hasOwnIDs else { return }
        try split { parts, values in
            let differing = zip(table.columns, numbers).filter { column, number in
                parts[number] != column.part(values)
            }
            return differing.count * 2 > table.columns.count
        }
    }

    /// Takes the rows that are other ones by what was at their keys, and what is, for gone and new.
    private func split(
        if isOther: (_ old: [Int64: RowImage.Part], _ new: [StoredValue]) -> Bool
    ) throws {
        let all = changed
        changed = []
        for row in all {
            let parts = try row.old.image.partsByColumn()
            if isOther(parts, row.values) {
                gone.append(row.old)
                news.append(New(key: row.old.key, values: row.values, image: row.image))
            } else {
                changed.append(row)
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
        hasShown = try capture.access.hasShown(in: table.name)
        goneIDs = Set(gone.map(\.id))
        let others = try findAgain(capture)
        for index in others { news[index].id = try id(of: news[index], &capture, isCyclic) }
        try self.match(&capture)
        // A key of the shadow may be another row's now.
        for row in gone { try capture.access.hide(row, in: table.name) }
        if table.isNamed { keepMoved() }
        try showNews(capture)
    }

    /// Takes a row that is gone at one key and new at another by the same name for one that was changed.
    private func keepMoved() {
        var old = Dictionary(gone.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        news.removeAll { new in
            guard var row = old.removeValue(forKey: new.id) else { return false }
            row.key = new.key
            changed.append((row, new.values, new.image))
            return true
        }
        gone = gone.filter { old[$0.id] != nil }
    }

    /// Finds new rows among those of the state that the shadow has lost sight of, after an accident.
    ///
    /// - Returns: the places of all others. Their ids are made afterwards, since none of them may be what a
    ///   row further on is found to be.
    private func findAgain(_ capture: Capture) throws -> [Int] {
        guard capture.options.isAfterAccident, table.identifyingPlaces == nil else {
            return Array(news.indices)
        }
        var match = try RowMatch(table, gone: gone, capture.access)
        return try news.indices.filter { index in
            let wire = try table.columns.map {
                try capture.wire(news[index].values[$0.index], of: $0).named
            }
            guard let id = match.take(wire, key: news[index].key) else { return true }
            news[index].id = id
            found.insert(id)
            return false
        }
    }

    /// Has the shadow show a row as it is here, alive.
    func show(_ row: New, _ capture: Capture) throws {
        let known = try capture.access.known(row.id)
        let shown = ShownRow(
            key: row.key,
            id: row.id,
            causalLength: (known?.state.causalLength ?? 0) | 1,
            image: row.image
        )
        try capture.access.show(shown, in: table.name)
        try capture.access.forgetFormerKey(of: row.id)
    }

    /// Has the shadow show the new rows.
    func showNews(_ capture: Capture) throws {
        for row in news { try show(row, capture) }
        named = []
    }

    /// Returns the id of a new row: made of its key or content, that of a row that is back, or a random one.
    func id(of row: New, _ capture: inout Capture, _ isCyclic: Bool) throws -> RowID {
        let id = try makeID(of: row, &capture, isCyclic)
        if kind == .migration, try capture.access.known(id)?.state.isTombstone == true,
            try capture.access.formerKey(of: id) != nil
        {
            returned.insert(id)
        }
        return id
    }

    private func makeID(
        of row: New,
        _ capture: inout Capture,
        _ isCyclic: Bool
    ) throws -> RowID {
        if let key = try key(of: row, capture) {
            return try free(RowID(key: key, in: table.name), for: row, &capture)
        }
        if kind == .seed { return try contentID(of: row, capture, isCyclic) }
        if let id = try formerID(of: row, capture) { return id }
        return try kind == .edits ? capture.makeID() : contentID(of: row, capture, isCyclic)
    }

    /// Returns the values of the columns that identify a row; `nil` if none do, or it has no name.
    private func key(of row: New, _ capture: Capture) throws -> [(ColumnName, Value)]? {
        guard let places = table.identifyingPlaces else { return nil }
        let key = try places.map { place in
            let column = table.columns.first { $0.place == place }
            guard let column else { throw capture.access.damaged("a key has no column") }
            return (column.name, try capture.wire(row.values[column.index], of: column))
        }
        return table.isNamed && key.contains { $0.1 == .null } ? nil : key
    }

    /// Returns the id that the columns make which the map names, or a random one if another row has it.
    ///
    /// That row is called otherwise by now, or two are called the same.
    private func free(_ id: RowID, for row: New, _ capture: inout Capture) throws -> RowID {
        guard table.isNamed else { return id }
        let shown = try goneIDs.contains(id) ? nil : capture.access.shown(id)
        let isOfAnother = shown.map { $0.key != row.key } ?? false
        if !isOfAnother, named.insert(id).inserted { return id }
        // A row that a run showed which was killed may be called otherwise since.
        if kind == .seed, !isOfAnother || given.mayHave(id) {
            let names = (table.identifyingPlaces ?? []).map { table.schema.columns[$0].name }
            throw SyncRefusal.ambiguousIdentity(table: table.schema.name, columns: names)
        }
        return capture.makeID()
    }

    private func contentID(of row: New, _ capture: Capture, _ isCyclic: Bool) throws -> RowID {
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
            if found.contains(id) { continue }
            // A seed that was interrupted has given ids to rows that are alike; one that goes with a new
            // schema may have been edited since it got its id.
            if kind == .migration {
                if goneIDs.contains(id) { continue }
                if try isOfRowThatIsBack(id, otherThan: row, capture) { continue }
            }
            guard hasShown || given.mayHave(id), try capture.access.isShown(id),
                !goneIDs.contains(id)
            else {
                break
            }
        }
        occurrences[first] = occurrence
        return id
    }

    /// Whether an id was that of a row at another key, at which a row is again: that one gets it back.
    private func isOfRowThatIsBack(
        _ id: RowID,
        otherThan row: New,
        _ capture: Capture
    ) throws -> Bool {
        guard let key = try capture.access.formerKey(of: id), key != row.key else { return false }
        return try capture.finder?.values([], of: table.schema, at: key) != nil
    }

    /// A row that was deleted and is back at its key is the same row, unless SQLite gave the key out again.
    private func formerID(of row: New, _ capture: Capture) throws -> RowID? {
        // What had a name is known by it, and another new row may have that.
        if table.isNamed { return nil }
        if row.key == greatestKey, !table.neverReusesKeys,
            capture.options.meaning == .edits
        {
            return nil
        }
        return try capture.access.formerID(at: row.key, in: table.name).flatMap {
            found.contains($0) ? nil : $0
        }
    }
}
