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
    /// The columns that prove that two rows are alike, with their numbers.
    private let columns: [(column: ColumnMapping, number: Int64)]
    private var targets: [RowKey: RowKey] = [:]
    private var sources: [RowKey: RowKey] = [:]
    /// The keys at which another row is now.
    private var reused: [RowKey] = []

    private var table: TableMapping { capture.table }

    /// Returns whether rows of a table may be at other keys than before.
    static func arePossible(in capture: TableCapture, _ run: Capture) -> Bool {
        guard capture.kind != .seed, !run.options.isAfterAccident, !run.options.revives else {
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
    ///   - all: the captures that have been compared, or may be compared later, with those of all tables that refer to it.
    ///   - run: the capture of the store; it gets the changed numbers.
    /// - Returns: the captures that have to be compared again, since keys of their rows contain changed numbers.
    /// - Throws: `SidecarError`, `StoreError`.
    static func take(
        in capture: TableCapture,
        _ all: [TableCapture],
        _ run: inout Capture
    ) throws -> [TableCapture] {
        let children = all.filter { $0.table.refers(to: capture.table.name) }
        // Without a row that is gone, only rows that refer to the table could prove anything.
        let name = capture.table.name
        let hasMoved = hasMovedContent(capture)
        if capture.gone.isEmpty, !hasMoved, try !hasMovedNames(capture),
            try !children.contains(where: { try ReferringRows(capture: $0).mayProve(name) })
        {
            return []
        }
        var changes = try KeyChanges(capture, children, run)
        try changes.followChildren()
        try changes.followContent()
        if hasMoved { try changes.followMoves() }
        try changes.followShift()
        try changes.followNames()
        try changes.findReused()
        try changes.apply()
        run.reused[name] = Set(changes.reused.compactMap(\.number))
        let moved = changes.movedNumbers
        return moved.isEmpty
            ? [] : try MovedNumbers(moved, run.access).apply(to: capture.table, all, &run)
    }

    /// Returns whether a row that differs has its former content at another key now.
    private static func hasMovedContent(_ capture: TableCapture) -> Bool {
        guard capture.table.hasOwnIDs, capture.changed.count + capture.news.count > 1 else {
            return false
        }
        let present = Set(capture.changed.map(\.image) + capture.news.map(\.image))
        return capture.changed.contains { present.contains($0.old.image) }
    }

    /// Returns whether a text that only one row may have was at another key before.
    private static func hasMovedNames(_ capture: TableCapture) throws -> Bool {
        let (table, numbers, unique) = (capture.table, capture.numbers, capture.table.uniqueNames)
        // A key that identifies rows is where it was if its row is.
        guard table.hasOwnIDs, capture.changed.count > 1, !unique.isEmpty else { return false }
        let olds = try capture.changed.map { ($0.old.key, try table.parts(of: $0.old, numbers)) }
        return unique.contains { places in
            let news = capture.changed.map { row in
                (places.map { table.columns[$0].part(row.values) }, row.old.key)
            }
            let names = Dictionary(news) { $1 }
            return olds.contains { key, parts in
                let name = places.map { parts[numbers[$0]] ?? .value(.null) }
                return name.contains(where: \.isText) && names[name].map { $0 != key } ?? false
            }
        }
    }

    private init(_ capture: TableCapture, _ children: [TableCapture], _ run: Capture) throws {
        (self.capture, self.run) = (capture, run)
        let table = capture.table
        self.children = children.map { ReferringRows(capture: $0) }
        let key = table.hasOwnIDs ? [] : table.identifyingPlaces ?? []
        // A row that refers to its own table may refer to a row with another key.
        let own = table.references.filter { $0.table == table.name }.flatMap(\.columns)
        // The columns that came with a new schema are not those of the rows as they were.
        let former = try (capture.gone.first ?? capture.changed.first?.old)?.image.partsByColumn()
        columns = zip(table.columns, capture.numbers).filter {
            !key.contains($0.0.place) && !own.contains($0.0.name) && former?[$0.1] != nil
        }
        olds = Dictionary(
            (capture.gone + capture.changed.map(\.old)).map { ($0.key, $0) }
        ) { first, _ in first }
        let changed = capture.changed.map {
            TableCapture.New(key: $0.old.key, values: $0.values, image: $0.image)
        }
        news = Dictionary((capture.news + changed).map { ($0.key, $0) }) { first, _ in first }
        // The rows that their keys refer to have other keys.
        for (to, old) in capture.renamed { add(Change(from: old.key, to: to)) }
    }

    /// The numbers that rows had, with those that they have; `nil` for a row that is gone from a number that is taken.
    private var movedNumbers: [Int64: Int64?] {
        guard table.hasOwnIDs else { return [:] }
        var moved: [Int64: Int64?] = [:]
        for case .rowID(let number) in sources.keys { moved[number] = .some(nil) }
        for case (.rowID(let from), .rowID(let to)) in targets { moved[from] = to }
        return moved
    }

    // MARK: - Evidence

    /// Finds the keys that rows left together with rows that refer to them.
    private mutating func followChildren() throws {
        // The number of rows that moved along; 0 if their own keys contain the reference, so that they are new.
        var votes: [Change: Int] = [:]
        var deleted: [RowKey: Int] = [:]
        // The same for rows whose own keys contain the reference.
        var again: [Change: Int] = [:]
        var left: [RowKey: Int] = [:]
        for child in children {
            for reference in child.table.references where reference.table == table.name {
                let names = try names(of: reference)
                for move in try child.moves(along: reference, from: names.old, to: names.new) {
                    let change = Change(from: move.from, to: move.to)
                    votes[change, default: 0] += move.isMadeAgain ? 0 : 1
                    if move.isMadeAgain { again[change, default: 0] += 1 }
                }
                let hasKey = child.hasKey(with: reference)
                for row in child.capture.gone {
                    guard let key = try child.parts(of: reference, row).flatMap(names.old) else {
                        continue
                    }
                    if hasKey { left[key, default: 0] += 1 } else { deleted[key, default: 0] += 1 }
                }
            }
        }
        let ranked = try votes.map { ($0.key, $0.value, try likeness($0.key)) }.sorted {
            if $0.2.equal != $1.2.equal { return $0.2.equal > $1.2.equal }
            if $0.1 != $1.1 { return $0.1 > $1.1 }
            return ($0.0.from, $0.0.to) < ($1.0.from, $1.0.to)
        }
        for (change, moved, likeness) in ranked where try isPossible(change) {
            let isMadeAgain = again[change].map { $0 == left[change.from] } ?? false
            let others = deleted[change.from] ?? 0
            let isWhole = isMadeAgain && others == 0 && likeness.hasText
            // Else the rows were given to another one, which took the place of a deleted one.
            let isMoved = moved > others || isWhole ? likeness.isHalf : likeness.isOfSame
            // A row that is nothing but its key has no content; all rows below it were made again.
            let isKeyAlone = likeness.filled == 0 && isMadeAgain
            if try (isMoved || isKeyAlone) && isLiker(change, likeness) { add(change) }
        }
    }

    /// Returns whether two keys' rows are more alike than each is like the row that has its key now, or had it.
    ///
    /// With `byText`, a text that is alike outweighs as many numbers, unless all else stayed at the key.
    private func isLiker(
        _ change: Change,
        _ likeness: Likeness,
        byText: Bool = false
    ) throws -> Bool {
        try [change.from, change.to].allSatisfy { key in
            guard olds[key] != nil, news[key] != nil else { return true }
            let stayed = try self.likeness(Change(from: key, to: key))
            return likeness.equal > stayed.equal
                || byText && likeness.equal == stayed.equal && likeness.hasText && !stayed.hasText
                    && stayed.equal + 1 < stayed.filled
        }
    }

    /// Finds rows by their content, first those that are gone, then those at whose keys these are found.
    private mutating func followContent() throws {
        var lost = olds.keys.filter { key in
            targets[key] == nil && (news[key] == nil || sources[key] != nil)
        }.sorted(by: >)
        if lost.isEmpty { return }
        var free: [[RowImage.Part]: [RowKey]] = [:]
        for key in news.keys.sorted(by: >) where sources[key] == nil {
            guard let values = news[key]?.values else { continue }
            free[columns.map { $0.column.part(values) }, default: []].append(key)
        }
        // Only rows that refer to a row gain by it if keys identify rows, unless a new schema made all keys again.
        let isMadeAgain = capture.kind == .migration && capture.changed.isEmpty
        let mustBeOnly = !table.hasOwnIDs
        if mustBeOnly, !isMadeAgain, children.isEmpty || lost.count > Self.mostSearched { return }
        while let from = lost.popLast() {
            let content = try content(ofOld: from)
            if content.isEmpty { continue }
            while let to = free[content]?.popLast() {
                let change = Change(from: from, to: to)
                guard try isOther(at: to), try isPossible(change) else { continue }
                if mustBeOnly, try !(isMadeAgain ? isFilled(content) : isOnly(content)) { break }
                add(change)
                if olds[to] != nil, targets[to] == nil { lost.append(to) }
                break
            }
        }
    }

    /// Finds rows whose numbers have changed by as much as those of all rows that were found.
    private mutating func followShift() throws {
        let shifts = Set(
            targets.map { from, to -> Int64? in
                guard case (.rowID(let from), .rowID(let to)) = (from, to) else { return nil }
                return to &- from
            }
        )
        guard table.hasOwnIDs, shifts.count == 1, let shift = shifts.first ?? nil else { return }
        for case .rowID(let number) in olds.keys.sorted() {
            let change = Change(from: .rowID(number), to: .rowID(number &+ shift))
            let likeness = try likeness(change)
            guard likeness.equal > 0, likeness.isHalf,
                try isPossible(change) && isLiker(change, likeness)
            else { continue }
            add(change)
        }
    }

    /// Finds rows whose whole content is at another key, where another row was, as if all rows were saved again in
    /// another order.
    ///
    /// Content without a text may be equal by chance.
    private mutating func followMoves() throws {
        var places: [[RowImage.Part]: [RowKey]] = [:]
        for (key, row) in news.sorted(by: { $0.key > $1.key }) where sources[key] == nil {
            places[columns.map { $0.column.part(row.values) }, default: []].append(key)
        }
        var moves: [Change] = []
        for from in olds.keys.sorted() where targets[from] == nil && news[from] != nil {
            let content = try content(ofOld: from)
            guard content.contains(where: \.isText), let to = places[content]?.last else {
                continue
            }
            let change = Change(from: from, to: to)
            guard try isPossible(change), try isLiker(change, likeness(change)) else { continue }
            places[content]?.removeLast()
            moves.append(change)
        }
        let taken = Set(moves.map(\.to))
        for move in moves {
            // A row may have been copied to a free key, and then edited.
            let mayBeCopy = moves.count == 1 || olds[move.to] == nil && !taken.contains(move.from)
            if try !mayBeCopy || isOther(at: move.from) { add(move) }
        }
    }

    /// The greatest number of rows whose content is searched in the whole table.
    private static let mostSearched = 16

    /// Returns whether most of the content at a key differs, so that another row may be there.
    private func isOther(at key: RowKey) throws -> Bool {
        if olds[key] == nil { return true }
        let likeness = try likeness(Change(from: key, to: key))
        return likeness.equal * 2 < likeness.filled
    }

    /// Returns whether content is not blank, and just one row of the store has it.
    private func isOnly(_ content: [RowImage.Part]) throws -> Bool {
        var terms: [String] = []
        var values: [StoredValue] = []
        var nulls: [String] = []
        for ((column, _), part) in zip(columns, content) {
            let name = table.schema.columns[column.place].name.sqlIdentifier
            switch part {
            case .value(.null): nulls.append("\(name) IS NULL")
            case .value(let value):
                terms.append(name)
                values.append(value)
            case .hash: return true
            }
        }
        guard isFilled(content) else { return false }
        return try run.finder?.keys(
            of: table.schema,
            where: terms,
            are: values,
            and: nulls.isEmpty ? nil : nulls.joined(separator: " AND ")
        ).count == 1
    }

    private func isFilled(_ content: [RowImage.Part]) -> Bool {
        zip(columns, content).contains { !$0.column.isBlank($1) }
    }

    /// Finds rows that are gone by a text that only one row may have, or by a key that SQLite finds equal.
    ///
    /// If other rows are at both keys now, as after all rows were saved again, each row has to be liker to itself.
    private mutating func followNames() throws {
        for places in table.uniqueNames {
            let isKey = !table.hasOwnIDs
            let names = try names(by: places)
            var moves: [Change] = []
            for (name, from) in names.olds where targets[from] == nil {
                // Numbers alone are often a place, such as that of an item in a list.
                guard isKey || name.contains(where: \.isText), !name.contains(.value(.null)),
                    let to = names.news[name], to != from, sources[to] == nil
                else { continue }
                let change = Change(from: from, to: to)
                if news[from] == nil, olds[to] == nil {
                    if try isKey || isPossible(change) { add(change) }
                } else if try !isKey && isPossible(change)
                    && isLiker(change, likeness(change), byText: true)
                {
                    moves.append(change)
                }
            }
            // One alone may be a name that was given to another row.
            if moves.count == 1, news[moves[0].from] != nil { continue }
            for move in moves { add(move) }
        }
    }

    /// Finds the keys of deleted rows that SQLite has given to other rows.
    ///
    /// They are the table's highest, every value differs, and the rows that referred to them are gone. Without such
    /// rows the difference is taken for an edit, since a delete would cost others their edits.
    private mutating func findReused() throws {
        guard table.hasOwnIDs, !table.neverReusesKeys, !columns.isEmpty,
            var last = capture.greatestKey
        else { return }
        var lost: LostRows?
        for key in news.keys.sorted(by: >) {
            // A row between them stayed as it was.
            guard key == last, targets[key] == nil, sources[key] == nil else { return }
            if case .rowID(let number) = key { last = .rowID(number &- 1) }
            if olds[key] == nil { continue }
            guard try likeness(Change(from: key, to: key)).equal == 0 else { return }
            let rows = try lost ?? lostRows()
            lost = rows
            guard rows.votes[key, default: 0] > 1, try !isNamed(key, byAny: true, but: rows.others)
            else { return }
            reused.append(key)
        }
    }

    /// The rows that referred to others, and are gone.
    private struct LostRows {
        /// The weight of the evidence, by the keys to which the rows referred: 2 is enough.
        var votes: [RowKey: Int] = [:]
        /// The former rows whose numbers other rows have now, by their content.
        var others: Set<RowID> = []
    }

    private func lostRows() throws -> LostRows {
        var lost = LostRows()
        for child in children {
            for reference in child.table.references where reference.table == table.name {
                let names = try names(of: reference)
                for row in child.capture.gone {
                    let key = try child.parts(of: reference, row).flatMap(names.old)
                    if let key { lost.votes[key, default: 0] += 2 }
                }
                for row in child.capture.changed where try child.isOther(row, but: reference) {
                    let key = try child.parts(of: reference, row.old).flatMap(names.old)
                    if let key { lost.votes[key, default: 0] += 1 }
                    lost.others.insert(row.old.id)
                }
            }
        }
        return lost
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
        return try !isNamed(change.from) && (olds[change.to] == nil || !isNamed(change.to))
    }

    private func likeness(_ change: Change) throws -> Likeness {
        var likeness = Likeness()
        guard let new = news[change.to] else { return likeness }
        for ((column, _), part) in zip(columns, try content(ofOld: change.from))
        where !column.isBlank(part) {
            likeness.count(isEqual: part == column.part(new.values), isText: part.isText)
        }
        return likeness
    }

    /// Returns the content that a row had, with the present numbers of the rows that it refers to.
    private func content(ofOld key: RowKey) throws -> [RowImage.Part] {
        let parts = try olds[key].map(parts) ?? [:]
        return columns.map { column, number in
            let part = parts[number] ?? .value(.null)
            return run.moved(part, of: column) ?? part
        }
    }

    private func parts(of row: ShownRow) throws -> [Int64: RowImage.Part] {
        try table.parts(of: row, capture.numbers)
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
            let parts = try parts(of: row)
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
    /// Only with `byAny` do rows count whose own keys contain the reference, and rows of the table itself that differ:
    /// another row may be there.
    private func isNamed(
        _ key: RowKey,
        byAny: Bool = false,
        but others: Set<RowID> = []
    ) throws -> Bool {
        for child in children {
            for reference in child.table.references where reference.table == table.name {
                if !byAny, child.hasKey(with: reference) { continue }
                guard let named = try values(of: reference, at: key) else { continue }
                for key in try keys(in: child, along: reference, named) {
                    if !byAny, child.capture === capture, olds[key] != nil { continue }
                    let id = try run.access.shadow.id(at: key, in: child.table.name)
                    guard let row = try id.flatMap(run.access.shadow.row),
                        !others.contains(row.id)
                    else { continue }
                    if try child.parts(of: reference, row) == named.map(RowImage.Part.init) {
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
        guard let parts = try olds[key].map(parts) else { return nil }
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
    private func apply() throws {
        guard table.hasOwnIDs else {
            for (from, to) in targets { capture.renamed[to] = olds[from] }
            return try renameChildren()
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
            if let row = olds[from] { try run.access.shadow.hide(row, in: table.name) }
        }
        for (from, to) in targets.sorted(by: { $0.key < $1.key }) {
            guard var row = olds[from], let new = news[to] else { continue }
            row.key = to
            try run.access.shadow.show(row, in: table.name)
            try run.access.shadow.forgetFormerKey(of: row.id)
            capture.changed.append((row, new.values, new.image))
        }
    }
}

extension KeyChanges {
    /// Has the captures of rows whose own keys contain a changed key treat each as one row, too.
    private func renameChildren() throws {
        for child in children where !child.table.hasOwnIDs && child.capture !== capture {
            for reference in child.table.references where reference.table == table.name {
                guard reference.isByValue, child.hasKey(with: reference) else { continue }
                try rename(child, along: reference)
            }
        }
    }

    private func rename(_ child: ReferringRows, along reference: ViewSchema.Reference) throws {
        let places = reference.targets.compactMap(table.place)
        var values: [[RowImage.Part]: [RowImage.Part]] = [:]
        for (from, to) in targets {
            guard let old = try olds[from].map(parts), let new = news[to] else { continue }
            values[places.map { old[capture.numbers[$0]] ?? .value(.null) }] =
                places.map { table.columns[$0].part(new.values) }
        }
        let columns = reference.columns.compactMap { name in
            child.table.place(of: name).map { child.capture.numbers[$0] }
        }
        let present = Set(child.capture.news.map(\.key))
        for row in child.capture.gone {
            guard let new = try child.parts(of: reference, row).flatMap({ values[$0] }) else {
                continue
            }
            var parts = try row.image.parts()
            for index in parts.indices {
                guard let place = columns.firstIndex(of: parts[index].column) else { continue }
                parts[index].part = new[place]
            }
            let key = try child.key(of: RowImage(parts), else: row.key)
            if key != row.key, present.contains(key) { child.capture.renamed[key] = row }
        }
    }
}
