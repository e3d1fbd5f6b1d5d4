internal import Changes
internal import Stores

/// The rows of one table that an application has at other keys than before, without having deleted them.
///
/// The rows that refer to a row and moved along prove that it is the same one, as after ON UPDATE CASCADE
/// (https://www.sqlite.org/foreignkeys.html, 4.3). So does equal content at a key that was free, or a text that only
/// one row may have, as after INSERT OR REPLACE. A row that still refers to the old key disproves it.
///
/// A row whose number is valid in this store only keeps its id. A row that its key identifies gets another id, and the
/// former id becomes the same as it, so that rows of other devices that refer to the former key follow.
struct KeyChanges {
    private struct Change: Hashable {
        var from: RowKey
        var to: RowKey
    }

    private let capture: TableCapture
    private let run: Capture
    /// The rows of all tables that refer to the table.
    private let children: [ReferringRows]
    /// The rows that are gone or differ, as they were.
    private let olds: [RowKey: ShownRow]
    /// The rows that are new or differ, as they are.
    private let news: [RowKey: TableCapture.New]
    /// The keys of the children that differ, by their tables: another row may be there now.
    private let differing: [TableName: Set<RowKey>]
    /// The columns that prove that two rows are alike, with their numbers.
    private let columns: [(column: ColumnMapping, number: Int64)]
    private var targets: [RowKey: RowKey] = [:]
    private var sources: [RowKey: RowKey] = [:]
    /// The keys at which another row is now.
    private var reused: [RowKey] = []

    private var table: TableMapping { capture.table }

    /// Returns whether rows of a table may be at other keys than before, and differences are edits.
    static func arePossible(in capture: TableCapture, _ run: Capture) -> Bool {
        guard capture.kind == .edits, !run.options.isAfterAccident, !run.options.revives else {
            return false
        }
        // A row of such a table is another one if its name differs.
        if capture.table.isKeyless, capture.table.isNamed { return false }
        return !(capture.gone.isEmpty && capture.changed.isEmpty)
            && !(capture.news.isEmpty && capture.changed.isEmpty)
    }

    /// Finds the rows of a table with other keys, and has its capture treat each as one row.
    ///
    /// - Parameters:
    ///   - capture: the capture of the table, which has been compared with its shadow.
    ///   - children: the captures of the tables that refer to it, likewise.
    ///   - run: the capture of the store.
    /// - Returns: the children that have to be compared again, since their own keys contain changed numbers.
    /// - Throws: `SidecarError`, `StoreError`.
    static func take(
        in capture: TableCapture,
        _ children: [TableCapture],
        _ run: Capture
    ) throws -> [TableCapture] {
        let isAlone = children.allSatisfy { $0.gone.isEmpty && $0.changed.isEmpty }
        if isAlone, capture.gone.isEmpty || capture.news.isEmpty && capture.changed.isEmpty {
            return []
        }
        var changes = KeyChanges(capture, children, run)
        try changes.followChildren()
        try changes.followContent()
        try changes.followNames()
        try changes.findReused()
        return try changes.apply()
    }

    private init(_ capture: TableCapture, _ children: [TableCapture], _ run: Capture) {
        (self.capture, self.run) = (capture, run)
        self.children = children.map { ReferringRows(capture: $0) }
        differing = Dictionary(
            children.map { ($0.table.name, Set($0.changed.map(\.old.key))) }
        ) { first, _ in first }
        let table = capture.table
        let key = table.hasOwnIDs ? [] : table.identifyingPlaces ?? []
        columns = zip(table.columns, capture.numbers).filter {
            // A row that refers to its own table may refer to a row with another key.
            !key.contains($0.0.place) && $0.0.parent != table.name
        }
        olds = Dictionary(
            (capture.gone + capture.changed.map(\.old)).map { ($0.key, $0) }
        ) { first, _ in first }
        let changed = capture.changed.map {
            TableCapture.New(key: $0.old.key, values: $0.values, image: $0.image)
        }
        news = Dictionary((capture.news + changed).map { ($0.key, $0) }) { first, _ in first }
    }

    // MARK: - Evidence

    /// The evidence of the rows that refer to the table.
    private struct Votes {
        /// The rows that moved from one key to another.
        var moved = 0
        /// The rows whose own keys contain the reference: they are new, and like deleted ones.
        var madeAgain = 0
    }

    /// Finds the keys that rows left together with rows that refer to them.
    private mutating func followChildren() throws {
        var votes: [Change: Votes] = [:]
        var deleted: [RowKey: Int] = [:]
        for child in children {
            for reference in child.table.references where reference.table == table.name {
                let names = try names(of: reference)
                for move in try child.moves(along: reference) {
                    guard let from = names.old(move.old), let to = names.new(move.new), from != to
                    else { continue }
                    let change = Change(from: from, to: to)
                    if move.isMadeAgain {
                        votes[change, default: Votes()].madeAgain += 1
                    } else {
                        votes[change, default: Votes()].moved += 1
                    }
                }
                if child.hasKey(with: reference) { continue }
                for row in child.capture.gone {
                    let key = try child.parts(of: reference, row.image).flatMap(names.old)
                    if let key { deleted[key, default: 0] += 1 }
                }
            }
        }
        let ranked = try votes.map { ($0.key, $0.value, try likeness($0.key)) }.sorted {
            if $0.2 != $1.2 { return $0.2 > $1.2 }
            if $0.1.moved != $1.1.moved { return $0.1.moved > $1.1.moved }
            return ($0.0.from, $0.0.to) < ($1.0.from, $1.0.to)
        }
        for (change, votes, likeness) in ranked where try isPossible(change) {
            let isMoved = votes.moved > deleted[change.from] ?? 0
            guard isMoved || likeness * 2 > columns.count else { continue }
            if try isLiker(change, likeness) { add(change) }
        }
    }

    /// Returns whether two keys' rows are more alike than each is like the row that has its key now, or had it.
    private func isLiker(_ change: Change, _ likeness: Int) throws -> Bool {
        try [change.from, change.to].allSatisfy { key in
            guard olds[key] != nil, news[key] != nil else { return true }
            return try likeness > self.likeness(Change(from: key, to: key))
        }
    }

    /// Finds rows by their content, first those that are gone, then those at whose keys these are found.
    private mutating func followContent() throws {
        var lost = olds.keys.filter {
            targets[$0] == nil && (news[$0] == nil || sources[$0] != nil)
        }
        .sorted(by: >)
        if lost.isEmpty { return }
        var free: [[RowImage.Part]: [RowKey]] = [:]
        for key in news.keys.sorted(by: >) where sources[key] == nil {
            guard let values = news[key]?.values else { continue }
            free[columns.map { $0.column.part(values) }, default: []].append(key)
        }
        while let from = lost.popLast() {
            let parts = try olds[from]?.image.partsByColumn() ?? [:]
            let content = columns.map { parts[$0.number] ?? .value(.null) }
            guard isTelling(content) else { continue }
            while let to = free[content]?.popLast() {
                let change = Change(from: from, to: to)
                let isOther =
                    try olds[to] == nil
                    || likeness(Change(from: to, to: to)) * 2 < columns.count
                guard isOther, try isPossible(change) else { continue }
                add(change)
                if olds[to] != nil, targets[to] == nil { lost.append(to) }
                break
            }
        }
    }

    /// Returns whether content says which row has it, although no row refers to that one.
    private func isTelling(_ content: [RowImage.Part]) -> Bool {
        if table.hasOwnIDs { return !content.isEmpty }
        // Only rows that refer to a row gain by it if keys identify rows.
        let filled = zip(columns, content).filter { !$0.column.isBlank($1) }
        return !children.isEmpty && (filled.count > 1 || filled.contains { $0.1.isText })
    }

    /// Finds rows that are gone by a text that only one row may have, or by a key that SQLite finds equal.
    private mutating func followNames() throws {
        for index in table.schema.indexes where index.isUnique && table.schema.isPlain(index) {
            let isKey = index.origin == .primaryKey
            let places = index.keys.compactMap { key in
                table.columns.firstIndex { $0.place == key.column }
            }
            guard places.count == index.keys.count, isKey != table.hasOwnIDs else { continue }
            let names = try names(by: places)
            for (name, from) in names.olds where news[from] == nil && targets[from] == nil {
                // Numbers alone are often a place, such as that of an item in a list.
                guard name.contains(where: \.isText), !name.contains(.value(.null)),
                    let to = names.news[name], olds[to] == nil, sources[to] == nil
                else { continue }
                let change = Change(from: from, to: to)
                if try isKey || isPossible(change) { add(change) }
            }
        }
    }

    /// Finds the key of a deleted row that SQLite has given to another row.
    ///
    /// The key is the table's highest, every value differs, and the rows that referred to it are gone. Without such
    /// rows the difference is taken for an edit, since a delete would cost others their edits.
    private mutating func findReused() throws {
        guard table.hasOwnIDs, !table.neverReusesKeys, !columns.isEmpty,
            let key = capture.greatestKey, olds[key] != nil, news[key] != nil,
            targets[key] == nil, sources[key] == nil,
            try likeness(Change(from: key, to: key)) == 0
        else { return }
        let hasLost = try children.contains { child in
            try child.table.references.contains { reference in
                guard reference.table == table.name else { return false }
                let names = try names(of: reference)
                return try child.capture.gone.contains {
                    try child.parts(of: reference, $0.image).flatMap(names.old) == key
                }
            }
        }
        if hasLost, try !isNamed(key, byAny: true) { reused = [key] }
    }

    private mutating func add(_ change: Change) {
        targets[change.from] = change.to
        sources[change.to] = change.from
    }

    /// Returns whether neither row of a change belongs to another one, and no row refers to a key as before.
    private func isPossible(_ change: Change) throws -> Bool {
        guard change.from != change.to, targets[change.from] == nil, sources[change.to] == nil
        else {
            return false
        }
        // The id of a row that its key identifies cannot become that of another row.
        if !table.hasOwnIDs, news[change.from] != nil || olds[change.to] != nil { return false }
        if try isNamed(change.from) { return false }
        return try olds[change.to] == nil || !isNamed(change.to)
    }

    /// Returns the number of columns that two rows have alike.
    private func likeness(_ change: Change) throws -> Int {
        guard let old = try olds[change.from]?.image.partsByColumn(), let new = news[change.to]
        else { return 0 }
        return columns.count { old[$0.number] == $0.column.part(new.values) }
    }

    // MARK: - Names

    /// Returns functions that give the keys of the rows as they were and are, by the values that name them.
    private func names(
        of reference: ViewSchema.Reference
    ) throws -> (old: ([RowImage.Part]) -> RowKey?, new: ([RowImage.Part]) -> RowKey?) {
        guard reference.isByValue else {
            func key(_ parts: [RowImage.Part]) -> RowKey? {
                if case .value(.integer(let number))? = parts.first { .rowID(number) } else { nil }
            }
            return (
                { key($0).flatMap { olds[$0]?.key } }, { key($0).flatMap { news[$0]?.key } }
            )
        }
        let places = reference.targets.compactMap(table.place)
        let names = try names(by: places)
        return ({ names.olds[name($0, places)] }, { names.news[name($0, places)] })
    }

    /// Returns the keys of the rows by the values of some of the columns that sync, in the columns' collations.
    private func names(
        by places: [Int]
    ) throws -> (olds: [[RowImage.Part]: RowKey], news: [[RowImage.Part]: RowKey]) {
        let old = try olds.map { key, row in
            let parts = try row.image.partsByColumn()
            return (name(places.map { parts[capture.numbers[$0]] ?? .value(.null) }, places), key)
        }
        let new = news.map { key, row in
            (name(places.map { table.columns[$0].part(row.values) }, places), key)
        }
        return (Dictionary(old) { min($0, $1) }, Dictionary(new) { min($0, $1) })
    }

    /// Returns the values of columns in one form for all that the columns' collations find equal.
    private func name(_ parts: [RowImage.Part], _ places: [Int]) -> [RowImage.Part] {
        zip(parts, places).map { part, place in
            let collation = table.schema.columns[table.columns[place].place].collation
            return part.stored.map { .init($0.folded(collation)) } ?? part
        }
    }

    /// Returns whether a row of the store refers to a key, and did so at the last capture.
    ///
    /// Only with `byAny` do rows count that differ, or whose own keys contain the reference: another row may be there.
    private func isNamed(_ key: RowKey, byAny: Bool = false) throws -> Bool {
        for child in children {
            for reference in child.table.references where reference.table == table.name {
                if !byAny, child.hasKey(with: reference) { continue }
                guard let named = try values(of: reference, at: key) else { continue }
                for key in try keys(in: child, along: reference, named) {
                    if !byAny, differing[child.table.name]?.contains(key) == true { continue }
                    let id = try run.access.id(at: key, in: child.table.name)
                    guard let image = try id.flatMap(run.access.shown)?.image else { continue }
                    if try child.parts(of: reference, image) == named.map(RowImage.Part.init) {
                        return true
                    }
                }
            }
        }
        return false
    }

    /// Returns the values by which a reference named the row at a key; `nil` if none could.
    private func values(
        of reference: ViewSchema.Reference,
        at key: RowKey
    ) throws -> [StoredValue]? {
        guard reference.isByValue else { return key.values }
        guard let parts = try olds[key]?.image.partsByColumn() else { return nil }
        let places = reference.targets.compactMap(table.place)
        let values = places.compactMap { parts[capture.numbers[$0]]?.stored }
        // The shadow has only the hashes of long values; the key has the values.
        if values.count == places.count { return values.contains(.null) ? nil : values }
        return places.map { table.columns[$0].place } == table.schema.primaryKey ? key.values : nil
    }

    /// Returns the keys of a child's rows in the store that refer to values.
    private func keys(
        in child: ReferringRows,
        along reference: ViewSchema.Reference,
        _ values: [StoredValue]
    ) throws -> [RowKey] {
        guard let finder = run.finder else { return [] }
        let schema = child.table.schema
        if reference.isByValue {
            let terms = child.table.terms(of: reference, to: table)
            return try finder.keys(of: schema, where: terms, are: values)
        }
        guard case .integer(let number)? = values.first,
            let place = reference.columns.first.flatMap(child.table.place)
        else { return [] }
        let column = child.table.columns[place].place
        return try finder.keys(of: schema, whereColumn: column, isIn: [number])
    }

    // MARK: - Consequences

    /// Has the capture treat each row as one that has another key.
    ///
    /// - Returns: see `take`.
    private func apply() throws -> [TableCapture] {
        guard table.hasOwnIDs else {
            for (from, to) in targets { capture.renamed[to] = olds[from] }
            return []
        }
        let displaced = sources.keys.filter { targets[$0] == nil && news[$0] != nil } + reused
        let vacated = targets.keys.filter { sources[$0] == nil && news[$0] != nil } + reused
        let settled = Set(targets.keys).union(sources.keys).union(reused)
        capture.gone.removeAll { targets[$0.key] != nil }
        capture.gone += displaced.sorted().compactMap { olds[$0] }
        capture.news.removeAll { sources[$0.key] != nil }
        capture.news += vacated.sorted().compactMap { news[$0] }
        capture.changed.removeAll { settled.contains($0.old.key) }
        for from in targets.keys {
            if let row = olds[from] { try run.access.hide(row, in: table.name) }
        }
        for (from, to) in targets.sorted(by: { $0.key < $1.key }) {
            guard var row = olds[from], let new = news[to] else { continue }
            row.key = to
            try run.access.show(row, in: table.name)
            try run.access.forgetFormerKey(of: row.id)
            capture.changed.append((row, new.values, new.image))
        }
        // If all keys were free, the children's former keys are gone, and their ids are found again.
        guard sources.keys.contains(where: { olds[$0] != nil }) else { return [] }
        return try children.map(\.capture).filter { child in
            let rows = ReferringRows(capture: child)
            let columns = rows.columnsOfKey(naming: table.name)
            if child === capture || columns.isEmpty { return false }
            try rekey(rows, columns)
            return true
        }
    }

    /// Moves the rows of a child in its shadow to the keys that SQLite gave them as their parents' numbers changed.
    private func rekey(_ child: ReferringRows, _ columns: [ColumnMapping]) throws {
        let places = columns.compactMap { child.table.columns.firstIndex(of: $0) }
        let numbers = places.map { child.capture.numbers[$0] }
        var moved: [(old: ShownRow, new: ShownRow)] = []
        var gone: [ShownRow] = []
        try run.access.forEachShown(in: child.table.name) { row in
            var parts = try row.image.parts()
            var new = row
            for index in parts.indices where numbers.contains(parts[index].column) {
                guard case .value(let value) = parts[index].part,
                    case .integer(let number) = KeyComparison.folded(value, .integer)
                else { continue }
                if case .rowID(let target)? = targets[.rowID(number)] {
                    parts[index].part = .value(.integer(target))
                } else if sources[.rowID(number)] != nil {
                    return gone.append(row)
                }
            }
            new.image = RowImage(parts)
            guard new.image != row.image else { return }
            new.key = try child.key(of: new.image, else: row.key)
            moved.append((row, new))
        }
        for row in moved.map(\.old) + gone { try run.access.hide(row, in: child.table.name) }
        for (_, row) in moved {
            try run.access.show(row, in: child.table.name)
            try run.access.forgetFormerKey(of: row.id)
        }
        (child.capture.gone, child.capture.news, child.capture.changed) = (gone, [], [])
    }
}

extension RowImage.Part {
    fileprivate var isText: Bool {
        switch self {
        case .value(.text(let bytes)): bytes.count > 0
        case .hash(.text, _): true
        default: false
        }
    }
}
