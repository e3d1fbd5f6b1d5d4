internal import Changes
internal import Files
internal import Stores

/// The comparison of one table with its shadow.
final class TableCapture {
    /// A row that is not in the shadow.
    struct New {
        let key: RowKey
        /// The values of the stored columns.
        let values: [StoredValue]
        let image: RowImage
        var id = RowID.zero

        func shown(at causalLength: UInt32) -> ShownRow {
            ShownRow(key: key, id: id, causalLength: causalLength, image: image)
        }
    }

    /// A row that differs from the shadow.
    typealias Changed = (old: ShownRow, values: [StoredValue], image: RowImage)

    let table: TableMapping
    let kind: Capture.Kind
    let numbers: [Int64]
    var news: [New] = []
    var changed: [Changed] = []
    var gone: [ShownRow] = []
    /// The gone rows that have other keys now, by these.
    var renamed: [RowKey: ShownRow] = [:]
    var greatestKey: RowKey?
    /// The greatest key of a row that is as it was.
    private var greatestSame: RowKey?
    var isScanned = false
    /// Whether the shadow had rows, and the ids of the rows that are gone.
    private var hasShown = false
    private var goneIDs: Set<RowID> = []
    /// The number of rows with each content, by the id of the first.
    var occurrences: [RowID: UInt64] = [:]
    /// The rows that were found again, at other keys.
    var found: Set<RowID> = []
    /// The ids made of columns that the map names, for rows that are not in the shadow yet.
    var named: Set<RowID> = []
    /// The ids of rows that a first capture has added to the shadow.
    var given = IDSieve()
    /// The columns that had another meaning at the last capture.
    let turned: Set<ColumnName>
    /// The rows that were deleted elsewhere, still exist here, and come back on all devices.
    var revived: [New] = []
    /// The rows of a migration that were here, were deleted, and were put back.
    ///
    /// None of them came with the schema.
    var returned: Set<RowID> = []

    init(_ table: TableMapping, _ kind: Capture.Kind, _ capture: Capture) throws {
        self.table = table
        self.kind = kind
        numbers = try capture.access.numbers(of: table)
        let names = capture.options.change.columns[table.name] ?? []
        turned = Set(table.columns.map(\.name).filter { names.contains($0.description.exact) })
    }

    // MARK: - Differences

    /// Compares the table with its shadow: all rows of both, or those of pages that have changed.
    func scan(_ snapshot: StoreSnapshot, _ capture: inout Capture) throws {
        let access = capture.access
        let leaves = try self.leaves(snapshot, access)
        let known = try access.shadow.leaves(of: table.name)
        let isWhole = capture.options.meaning == .merge || capture.options.revives || isScanned
        if let leaves, !known.isEmpty, turned.isEmpty, !isWhole {
            for range in Leaf.changes(from: known, to: leaves) {
                try scan(range, snapshot, capture)
            }
            greatestKey = try snapshot.greatestRowID(of: table.schema).map { .rowID($0) }
        } else {
            try scan(nil, snapshot, capture)
        }
        try access.shadow.setLeaves(leaves, of: table.name)
        try splitRenamed(capture)
        if capture.options.meaning == .merge { try splitOthers() }
        // Another row is now at its key.
        let left = Set(gone.map(\.id))
        revived.removeAll { left.contains($0.id) }
        isScanned = true
    }

    /// Returns the hashes of the table's leaves; `nil` if its rows are not in the order of rowids.
    func leaves(_ snapshot: StoreSnapshot, _ access: SidecarAccess) throws -> [Leaf]? {
        guard table.order == .local else { return nil }
        return try snapshot.leaves(of: table.schema, key: access.shadow.leafKey())
    }

    private func scan(
        _ range: ClosedRange<Int64>?,
        _ snapshot: StoreSnapshot,
        _ capture: Capture
    ) throws {
        var cursor = try snapshot.rows(of: table.schema, order: table.order, rowIDs: range)
        var shadow = try capture.access.shadow.cursor(in: table.name, rowIDs: range)
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

    /// Compares a row that still exists.
    private func compare(_ old: ShownRow, _ new: New, _ capture: Capture) throws {
        if old.image == new.image { greatestSame = old.key }
        if old.image != new.image || !turned.isEmpty {
            changed.append((old, new.values, new.image))
        }
        guard capture.options.revives, let known = try capture.access.states.known(old.id),
            known.state.isTombstone, known.state.causalLength > old.causalLength
        else { return }
        var row = new
        row.id = old.id
        revived.append(row)
    }

    /// Reads the current row of a cursor.
    func new(at cursor: borrowing TableCursor) throws -> New {
        let values = try cursor.columns.indices.map { try cursor.value($0) }
        return New(key: cursor.key, values: values, image: table.image(values, numbers))
    }

    /// Returns whether a row has NULL in its key.
    ///
    /// Such a row equals no other, and does not sync unless it has another key.
    func hasNullKey(_ cursor: borrowing TableCursor) -> Bool {
        let places = table.placesOfOnlyKey
        return !places.isEmpty
            && cursor.columns.indices.contains {
                places.contains(cursor.columns[$0]) && cursor.storageClass($0) == .null
            }
    }

    /// Treats a row with a new name as another row, if nothing else identifies it.
    private func splitRenamed(_ capture: Capture) throws {
        guard table.isKeyless, let places = table.identifyingPlaces else { return }
        try split { row in
            let parts = try table.parts(of: row.old, numbers)
            return zip(table.columns, numbers).contains { column, number in
                places.contains(column.place) && parts[number] != column.part(row.values)
            }
        }
    }

    /// Treats a row as another one at its key if the content says so.
    ///
    /// In a replaced store such a row was inserted in another history. As an edit it would yield, and be lost.
    private func splitOthers() throws {
        guard table.hasOwnIDs else { return }
        var likenesses: [RowKey: Likeness] = [:]
        for row in changed {
            let now = try row.image.partsByColumn()
            let likeness = try table.likeness(table.parts(of: row.old, numbers), now, numbers)
            if likeness.provesNumber {
                greatestSame = greatestSame.map { max($0, row.old.key) } ?? row.old.key
            }
            likenesses[row.old.key] = likeness
        }
        try split { row in
            let isCommon = greatestSame.map { row.old.key <= $0 } ?? false
            return likenesses[row.old.key]?.mayBeOfSame(isCommon: isCommon) == false
        }
    }

    /// Moves the changed rows that are really other rows to the gone and the new ones, as a closure decides.
    private func split(
        if isOther: (_ row: Changed) throws -> Bool
    ) throws {
        let all = changed
        changed = []
        for row in all {
            if try isOther(row) {
                gone.append(row.old)
                news.append(New(key: row.old.key, values: row.values, image: row.image))
            } else {
                changed.append(row)
            }
        }
    }

    // MARK: - Ids

    /// Gives ids to the new rows, and adds them to the shadow, so that other rows can refer to them.
    func identify(_ capture: inout Capture, isCyclic: Bool) throws {
        hasShown = try capture.access.shadow.hasRows(in: table.name)
        goneIDs = Set(gone.map(\.id))
        let others = try findAgain(capture)
        for index in others { news[index].id = try id(of: news[index], &capture, isCyclic) }
        try self.match(&capture)
        // A key in the shadow may now belong to another row.
        for row in gone { try capture.access.shadow.hide(row, in: table.name) }
        if table.identifyingPlaces != nil { keepMoved() }
        try showNews(capture)
    }

    /// Treats a row as changed if it is gone at one key, and new at another key with the same id.
    ///
    /// Its name is the same, or its key contains the number of a row that has another number now.
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

    /// Matches new rows, after an accident, with the known rows that the shadow has lost.
    ///
    /// - Returns: the indices of all other rows. Their ids are made afterwards, since a later row might be matched
    ///   with one.
    private func findAgain(_ capture: Capture) throws -> [Int] {
        guard capture.options.isAfterAccident, table.identifyingPlaces == nil else {
            return Array(news.indices)
        }
        var match = try RowMatch(table, gone: gone, capture.access)
        func find(_ take: (inout RowMatch, [Value], RowKey) -> RowID?, _ index: Int) throws -> Bool
        {
            let wire = try zip(table.columns, capture.wires(news[index].values, of: table))
                .map { $0.compared($1.named) }
            guard let id = take(&match, wire, news[index].key) else { return false }
            news[index].id = id
            found.insert(id)
            return true
        }
        let others = try news.indices.filter { try !find({ $0.take($1, key: $2) }, $0) }
        guard capture.options.matchesEdited else { return others }
        return try others.filter { try !find({ $0.take(like: $1, key: $2) }, $0) }
    }

    /// Adds a row to the shadow as it is here, alive.
    func show(_ row: New, _ capture: Capture) throws {
        let known = try capture.access.states.known(row.id)
        let shown = row.shown(at: (known?.state.causalLength ?? 0) | 1)
        try capture.access.shadow.show(shown, in: table.name)
        try capture.access.shadow.forgetFormerKey(of: row.id)
    }

    /// Adds the new rows to the shadow.
    func showNews(_ capture: Capture) throws {
        for row in news { try show(row, capture) }
        named = []
    }

    /// Returns the id of a new row: made of its key or content, that of a row that is back, or a random one.
    func id(of row: New, _ capture: inout Capture, _ isCyclic: Bool) throws -> RowID {
        let id = try makeID(of: row, &capture, isCyclic)
        if kind == .migration, try capture.access.states.known(id)?.state.isTombstone == true,
            try capture.access.shadow.formerKey(of: id) != nil
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
        if let key = try key(of: row, capture, isCyclic) {
            return try free(RowID(key: key, in: table.name), for: row, &capture)
        }
        if kind == .seed { return try contentID(of: row, capture, isCyclic) }
        if let id = try formerID(of: row, capture) { return id }
        return try kind == .edits ? capture.makeID() : contentID(of: row, capture, isCyclic)
    }

    /// Returns the values of the columns that identify a row; `nil` if there are none, or if its name is NULL.
    ///
    /// A reference to a row that may get another name is the row.
    private func key(
        of row: New,
        _ capture: Capture,
        _ isCyclic: Bool
    ) throws -> [(ColumnName, Value)]? {
        guard let places = table.identifyingPlaces else { return nil }
        let wires =
            !isCyclic && capture.namesRows(byKeyOf: table)
            ? try capture.wires(row.values, of: table) : nil
        let key = try places.map { place in
            let index = table.columns.firstIndex { $0.place == place }
            guard let index else { throw capture.access.damaged("a key has no column") }
            let column = table.columns[index]
            if let id = wires?[index].namedRow { return (column.name, Value.row(id)) }
            return (column.name, try capture.wire(row.values[column.index], of: column))
        }
        return table.isNamed && key.contains { $0.1 == .null } ? nil : key
    }

    /// Returns the id made of the columns that the map names, or a random one if another row has it.
    ///
    /// The other row has been renamed since, or two rows have the same name.
    private func free(_ id: RowID, for row: New, _ capture: inout Capture) throws -> RowID {
        guard table.isNamed else { return id }
        let shown = try goneIDs.contains(id) ? nil : capture.access.shadow.row(id)
        let isOfAnother = shown.map { $0.key != row.key } ?? false
        if !isOfAnother, named.insert(id).inserted { return id }
        // A row that a killed run has added to the shadow may have been renamed since.
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
            // An interrupted seed has given ids to rows with the same content. A row that a new schema removes may
            // have been edited since it got its id.
            if kind == .migration {
                if goneIDs.contains(id) { continue }
                if try isOfRowThatIsBack(id, otherThan: row, capture) { continue }
            }
            guard hasShown || given.mayHave(id), try capture.access.shadow.has(id),
                !goneIDs.contains(id)
            else {
                break
            }
        }
        occurrences[first] = occurrence
        return id
    }

    /// Returns whether an id was that of a row at another key where a row exists again: that row gets it back.
    private func isOfRowThatIsBack(
        _ id: RowID,
        otherThan row: New,
        _ capture: Capture
    ) throws -> Bool {
        let key = try capture.access.shadow.formerKey(of: id)
        guard let key, key != row.key else { return false }
        return try capture.finder?.values([], of: table.schema, at: key) != nil
    }

    /// Returns the id of a deleted row that is back at its key.
    ///
    /// SQLite gives the numbers above the greatest one that stayed to other rows, and sync may have freed any number.
    /// So a row with an equal number is only another row, unless its values are the same as well.
    private func formerID(of row: New, _ capture: Capture) throws -> RowID? {
        // A row with a name is identified by it, and another new row may have that name.
        if table.isNamed { return nil }
        let isAny =
            switch capture.options.meaning {
            case .edits: kind == .migration
            case .merge: greatestSame.map { row.key < $0 } ?? false
            case .container: true
            }
        let id = try capture.access.shadow.formerID(
            at: row.key,
            in: table.name,
            as: isAny ? nil : row.image
        )
        return id.flatMap { found.contains($0) ? nil : $0 }
    }
}

/// The known rows that the shadow has lost, by their content, so that they can be found again.
struct RowMatch {
    private var candidates: [[Value]: [KnownRow]] = [:]
    /// The contents of the candidates, by their hints.
    private var contents: [Int64: [Value]] = [:]

    /// Collects the rows of a table that are alive, and not shown except at keys that are gone.
    init(_ table: TableMapping, gone: [ShownRow], _ access: SidecarAccess) throws {
        let gone = Set(gone.map(\.id))
        try access.states.forEachAlive(in: table.name) { row in
            guard try gone.contains(row.id) || !access.shadow.has(row.id) else { return }
            let values = table.values(of: row.state)
            candidates[values, default: []].append(row)
            if case .integer(let number)? = row.delta.hint { contents[number] = values }
        }
    }

    /// Removes and returns a row with this content: the one whose hint is the key, else the first.
    mutating func take(_ values: [Value], key: RowKey) -> RowID? {
        guard var rows = candidates[values], !rows.isEmpty else { return nil }
        var place = 0
        if case .rowID(let number) = key {
            place = rows.firstIndex { $0.delta.hint == .integer(number) } ?? 0
        }
        let row = rows.remove(at: place)
        candidates[values] = rows
        return row.id
    }

    /// Removes and returns a row whose hint is the key, if this content can only be the same row's after an edit.
    mutating func take(like values: [Value], key: RowKey) -> RowID? {
        guard case .rowID(let number) = key, let content = contents[number] else { return nil }
        var likeness = Likeness()
        for (one, other) in zip(content, values) where one != .null || other != .null {
            likeness.count(isEqual: one == other, isText: one.isText)
        }
        guard likeness.isOfSame,
            candidates[content]?.contains(where: { $0.delta.hint == .integer(number) }) == true
        else { return nil }
        return take(content, key: key)
    }
}

extension Value {
    /// Whether it is a text with content.
    var isText: Bool {
        switch self {
        case .text(let bytes): !bytes.isEmpty
        case .longText: true
        default: false
        }
    }
}

/// A set of very many ids in little memory, a Bloom filter: it may report an id that is not in it.
///
/// It spares most searches in a large table.
struct IDSieve {
    /// The number of bits, 2²⁵.
    ///
    /// With a million ids, it wrongly reports four in a thousand others; with ten million, a fifth.
    private static let bits: UInt64 = 1 << 25
    private var words: [UInt64] = []

    mutating func insert(_ id: RowID) {
        if words.isEmpty { words = Array(repeating: 0, count: Int(Self.bits / 64)) }
        set(id.high % Self.bits)
        set(id.low % Self.bits)
    }

    /// Returns whether an id may be in the set; an id that was inserted is.
    func mayHave(_ id: RowID) -> Bool {
        // Ids are hashes or random, so their own bits are spread evenly.
        !words.isEmpty && has(id.high % Self.bits) && has(id.low % Self.bits)
    }

    private mutating func set(_ bit: UInt64) { words[Int(bit / 64)] |= 1 << (bit % 64) }

    private func has(_ bit: UInt64) -> Bool { words[Int(bit / 64)] >> (bit % 64) & 1 == 1 }
}
