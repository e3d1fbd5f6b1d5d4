internal import Changes
internal import Files
internal import Stores

/// The data of this device alone that belong to rows: values of columns that do not sync, and rows of tables that do not
/// sync and refer to them.
///
/// A row that gets another key takes them along. With a row that leaves the store they go as its foreign keys say, are
/// kept, and come back with it. All of it happens in the transaction that writes the store.
struct Companions {
    /// A place in the store.
    struct Place {
        var table: TableSchema
        var key: RowKey
    }

    /// A row in the store to which companions belong now.
    struct Heir {
        var place: Place
        /// Whether it was not in the store before.
        var isNew = false
        /// Its columns that do not sync; none if it was in the store before.
        var localColumns: Set<String> = []
    }

    /// The result of letting companions follow, go or come back.
    struct Settled {
        /// The companions to keep, by the rows that they went with, or could not come back with.
        var kept: [RowID: [Companion]] = [:]
        /// The companions that came back.
        var back: [Companion] = []
        /// The rows whose companions can neither follow nor go, with the reasons.
        var refused: [RowID: String] = [:]
    }

    /// A row that refers to rows that leave their keys, with the values of all its stored columns.
    fileprivate struct Follower {
        let place: Place
        let values: [StoredValue]
        var links: [(reference: OutsideReference, id: RowID)] = []
    }

    private let schema: SyncSchema
    private let finder: RowFinder
    private let rows: StoreRows
    private var own: [RowID: Companion] = [:]
    private var followers: [Follower] = []
    /// The tables in which a foreign key was broken before: their application does not turn foreign keys on.
    private var broken: Set<String> = []
    private var settled = Settled()

    /// Looks for the companions of rows that leave their keys, before they do.
    ///
    /// - Throws: `StoreError`.
    init(
        of leaving: [WritePlan.Step],
        in schema: SyncSchema,
        _ finder: RowFinder,
        _ rows: StoreRows
    ) throws {
        (self.schema, self.finder, self.rows) = (schema, finder, rows)
        for step in leaving {
            let (table, columns) = (step.table.schema, step.table.localColumns)
            guard !columns.isEmpty, let values = try finder.values(columns, of: table, at: step.key)
            else { continue }
            own[step.id] = Companion(
                table: table.name,
                key: step.key,
                values: Array(zip(columns.map { table.columns[$0].name }, values))
            )
        }
        var indexes: [ExactString: [RowKey: Int]] = [:]
        for reference in schema.outsideReferences {
            let steps = leaving.filter { reference.parent == $0.table.schema.name.foldedIdentifier }
            guard let parent = steps.first?.table.schema else { continue }
            let named = try steps.map {
                try finder.values(reference.parentColumns, of: parent, at: $0.key) ?? []
            }
            for (row, step) in try rows.rows(naming: named, of: parent, by: reference) {
                let name = reference.table.name.exact
                var index = indexes[name]?[row]
                if index == nil {
                    let place = Place(table: reference.table, key: row)
                    guard let values = try values(at: place) else { continue }
                    index = followers.count
                    indexes[name, default: [:]][row] = index
                    followers.append(Follower(place: place, values: values))
                }
                if let index { followers[index].links.append((reference, steps[step].id)) }
            }
        }
        let referring = Set(followers.map(\.place.table.name.exact))
        for reference in schema.outsideReferences
        where reference.forbidsDeletion && referring.contains(reference.table.name.exact) {
            if finder.breaksForeignKeys(reference.table) { broken.insert(reference.table.name) }
        }
    }

    private func values(at place: Place) throws -> [StoredValue]? {
        try finder.values(place.table.storedColumns, of: place.table, at: place.key)
    }
}

// Companions that follow their rows, or go with them.
extension Companions {
    /// Lets the companions follow their rows, go with them, or come back with them, once the steps are done.
    ///
    /// - Parameters:
    ///   - heirs: the rows in the store that the rows that leave are now.
    ///   - gone: the rows that have left their keys.
    ///   - returning: what went with rows before, with the rows, which are new in the store.
    ///   - find: returns the row in the store with an id.
    /// - Returns: the result; the transaction must not be committed if it has refusals.
    /// - Throws: `StoreError`, `SidecarError`.
    mutating func settle(
        heirs: [RowID: Heir],
        gone: Set<RowID>,
        returning: [(id: RowID, row: Heir, companions: [Companion])],
        find: (RowID) throws -> Heir?
    ) throws -> Settled {
        for id in gone where heirs[id] == nil { settled.kept[id] = own[id].map { [$0] } ?? [] }
        for (id, companion) in own {
            if let heir = heirs[id] { try set(companion, of: heir) }
        }
        var moving: [(follower: Follower, values: [StoredValue])] = []
        var going: [Follower] = []
        for follower in followers {
            guard let values = try newValues(of: follower, heirs) else {
                going.append(follower)
                continue
            }
            // A trigger of the store may have deleted it with its row.
            let isLost =
                try follower.links.contains { heirs[$0.id] != nil }
                && self.values(at: follower.place) == nil
            if isLost || values != follower.values { moving.append((follower, values)) }
        }
        try move(moving)
        try remove(going)
        for (id, row, companions) in returning {
            settled.kept[id] = try bringBack(companions, with: row, find)
        }
        return settled
    }

    /// Sets a row's own columns that do not sync.
    ///
    /// - Returns: what SQLite refuses; `nil` if it refuses nothing.
    @discardableResult
    private func set(_ companion: Companion, of heir: Heir) throws -> Companion? {
        var left = companion
        left.values = try companion.values.filter { name, value in
            guard heir.localColumns.contains(name) else { return false }
            return try rows.set([(name, value)], of: heir.place.table, at: heir.place.key) != nil
        }
        return left.values.isEmpty ? nil : left
    }

    /// Returns the values of a follower after the write; `nil` if it goes.
    ///
    /// It keeps what it loses of a row that is gone.
    private mutating func newValues(
        of follower: Follower,
        _ heirs: [RowID: Heir]
    ) throws -> [StoredValue]? {
        let table = follower.place.table
        var values = follower.values
        for (reference, id) in follower.links {
            if let heir = heirs[id] {
                let target = try finder.values(
                    reference.parentColumns,
                    of: heir.place.table,
                    at: heir.place.key
                )
                for (column, value) in zip(reference.columns, target ?? []) {
                    values[table.index(of: column)] = value
                }
                continue
            }
            // The application has changed a row that neither is gone nor has an heir.
            guard settled.kept[id] != nil else { continue }
            let empties = reference.columns.filter { !table.columns[$0].isNotNull }
            switch reference.onDelete {
            case .cascade: return nil
            case .setDefault:
                for column in reference.columns {
                    values[table.index(of: column)] = table.columns[column].constant
                }
                if try namesNone(values, reference) {
                    refuse(follower, "its default names no row")
                }
            case .none, .restrict:
                if broken.contains(table.name) { continue }
                if empties.isEmpty { return nil }
                for column in empties { values[table.index(of: column)] = .null }
            case .setNull:
                for column in reference.columns { values[table.index(of: column)] = .null }
            }
            var companion = Companion(follower, table)
            companion.isEmptied = true
            companion.links = [(reference.names, id)]
            settled.kept[id, default: []].append(companion)
        }
        return values
    }

    /// Returns whether values for a reference name no row.
    private func namesNone(_ values: [StoredValue], _ reference: OutsideReference) throws -> Bool {
        let named = reference.columns.map { values[reference.table.index(of: $0)] }
        let parent = schema.tables.first { $0.name.foldedIdentifier == reference.parent }?.schema
        guard !named.contains(.null), let parent else { return false }
        let terms = reference.parentColumns.map { parent.columns[$0].name.sqlIdentifier }
        return try finder.keys(of: parent, where: terms, are: named).isEmpty
    }

    /// Gives followers their new values: those with other unique keys all at once, since they may change places.
    private mutating func move(_ moving: [(follower: Follower, values: [StoredValue])]) throws {
        var again: [(follower: Follower, values: [StoredValue])] = []
        for (follower, values) in moving {
            let table = follower.place.table
            let changed = values.indices.filter { values[$0] != follower.values[$0] }
            let isThere = try self.values(at: follower.place) != nil
            if isThere, !table.isInUniqueKey(changed.map { table.storedColumns[$0] }) {
                let named = changed.map { (table.storedNames[$0], values[$0]) }
                refuse(follower, try rows.set(named, of: table, at: follower.place.key))
                continue
            }
            let words = isThere ? try rows.delete(table, at: follower.place.key) : nil
            refuse(follower, words)
            if words == nil { again.append((follower, values)) }
        }
        for (follower, values) in again {
            let named = Array(zip(follower.place.table.storedNames, values))
            refuse(follower, try rows.add(named, to: follower.place.table))
        }
    }

    private mutating func refuse(_ follower: Follower, _ words: String?) {
        for (_, id) in follower.links { refuse(id, follower.place.table, words) }
    }

    private mutating func refuse(_ id: RowID, _ table: TableSchema, _ words: String?) {
        guard let words else { return }
        settled.refused[id] =
            "a row of '\(table.name)', which does not sync, refers to it (\(words))"
    }

    /// Deletes followers, and the rows that refer to them in turn.
    private mutating func remove(_ going: [Follower]) throws {
        var level: [(place: Place, values: [StoredValue], ids: [RowID])] = []
        for follower in going {
            let table = follower.place.table
            let ids = follower.links.map(\.id).filter { settled.kept[$0] != nil }
            var companion = Companion(follower, table)
            companion.links = follower.links.map { ($0.reference.names, $0.id) }
            for id in ids { settled.kept[id, default: []].append(companion) }
            refuse(follower, try rows.delete(table, at: follower.place.key))
            level.append((follower.place, follower.values, ids))
        }
        while !level.isEmpty {
            var next: [(place: Place, values: [StoredValue], ids: [RowID])] = []
            for reference in schema.nestedReferences {
                let parents = level.filter {
                    $0.place.table.name.foldedIdentifier == reference.parent
                }
                guard let parent = parents.first?.place.table else { continue }
                let named = parents.map { row in
                    reference.parentColumns.map { row.values[parent.index(of: $0)] }
                }
                for (key, index) in try rows.rows(naming: named, of: parent, by: reference) {
                    let place = Place(table: reference.table, key: key)
                    guard let values = try values(at: place) else { continue }
                    let isEmptied = [.setNull, .setDefault].contains(reference.onDelete)
                    var companion = Companion(Follower(place: place, values: values), place.table)
                    companion.isEmptied = isEmptied
                    for id in parents[index].ids { settled.kept[id, default: []].append(companion) }
                    if isEmptied {
                        let empty = reference.columns.map {
                            (place.table.columns[$0].name, StoredValue.null)
                        }
                        if try rows.set(empty, of: place.table, at: key) == nil { continue }
                    }
                    let words = try rows.delete(place.table, at: key)
                    for id in parents[index].ids { refuse(id, place.table, words) }
                    next.append((place, values, parents[index].ids))
                }
            }
            level = next
        }
    }
}

// Companions that come back with their rows.
extension Companions {
    /// The rows of a table that came back.
    private struct Returned {
        var table: TableSchema
        /// Their values before and now.
        var rows: [(before: [StoredValue], now: [StoredValue])] = []
    }

    /// Brings back what went with a row.
    ///
    /// - Returns: the companions that cannot come back yet, or at all, since the application has something else there.
    private mutating func bringBack(
        _ companions: [Companion],
        with row: Heir,
        _ find: (RowID) throws -> Heir?
    ) throws -> [Companion] {
        var returned: [ExactString: Returned] = [:]
        var left: [Companion] = []
        for companion in companions {
            if companion.links.isEmpty, companion.table == row.place.table.name {
                if let refused = try set(companion, of: row) { left.append(refused) }
                continue
            }
            guard let table = references(of: companion.table).first?.table,
                let former = companion.values(in: table),
                let wanted = try present(former, of: companion, table, returned, find),
                let values = try restore(companion, former, wanted, to: table)
            else {
                left.append(companion)
                continue
            }
            settled.back.append(companion)
            returned[table.name.foldedIdentifier, default: Returned(table: table)].rows
                .append((former, values))
        }
        return left
    }

    /// Returns the references of a table that does not sync.
    private func references(of table: String) -> [OutsideReference] {
        (schema.outsideReferences + schema.nestedReferences).filter { $0.table.name == table }
    }

    /// Returns the values with which a companion comes back; `nil` as long as a row that it refers to is missing.
    private func present(
        _ former: [StoredValue],
        of companion: Companion,
        _ table: TableSchema,
        _ returned: [ExactString: Returned],
        _ find: (RowID) throws -> Heir?
    ) throws -> [StoredValue]? {
        var values = former
        for (names, id) in companion.links {
            let reference = schema.outsideReferences.first {
                $0.table.name == table.name && $0.names == names
            }
            guard let reference, let heir = try find(id),
                let target = try finder.values(
                    reference.parentColumns,
                    of: heir.place.table,
                    at: heir.place.key
                )
            else { return nil }
            for (column, value) in zip(reference.columns, target) {
                values[table.index(of: column)] = value
            }
        }
        for reference in schema.nestedReferences where reference.table.name == table.name {
            let named = reference.columns.map { former[table.index(of: $0)] }
            if named.contains(.null) { continue }
            let parents = returned[reference.parent]
            let places = parents.map { reference.parentColumns.map($0.table.index) } ?? []
            if let new = parents?.rows.first(where: { row in places.map { row.before[$0] } == named
            }) {
                for (column, place) in zip(reference.columns, places) {
                    values[table.index(of: column)] = new.now[place]
                }
            } else if companion.links.isEmpty {
                return nil
            }
        }
        return values
    }

    /// Adds a companion that was deleted, or fills a reference that was emptied.
    ///
    /// - Returns: its values; `nil` if it is not back.
    private func restore(
        _ companion: Companion,
        _ former: [StoredValue],
        _ values: [StoredValue],
        to table: TableSchema
    ) throws -> [StoredValue]? {
        let references = references(of: table.name)
        if companion.isEmptied { return try fill(companion, former, values, of: table, references) }
        let named = Array(zip(table.storedNames, values))
        if try rows.add(named, to: table) == nil { return values }
        // The application has given its number to another row.
        guard let alias = table.rowIDAlias, named.count > 1,
            !references.contains(where: { $0.columns.contains(alias) }),
            try rows.add(named.filter { $0.0 != table.columns[alias].name }, to: table) == nil
        else { return nil }
        var numbered = values
        numbered[table.index(of: alias)] = .integer(rows.lastNumber)
        return numbered
    }

    /// Fills the references of a row that were emptied, if it is still the same one.
    private func fill(
        _ companion: Companion,
        _ former: [StoredValue],
        _ values: [StoredValue],
        of table: TableSchema,
        _ references: [OutsideReference]
    ) throws -> [StoredValue]? {
        guard let present = try self.values(at: Place(table: table, key: companion.key)) else {
            return nil
        }
        let referring = Set(references.flatMap(\.columns).map(table.index))
        let others = former.indices.filter { !referring.contains($0) }
        // The application may have edited it meanwhile, or made another row at its key.
        let isSame = others.count { present[$0] == former[$0] } * 2 >= others.count
        let names = Set(companion.links.flatMap(\.columns))
        let changed = zip(table.storedNames, values).enumerated().filter { index, column in
            referring.contains(index) && present[index] == .null
                && (names.isEmpty || names.contains(column.0))
        }.map(\.element)
        guard isSame, try rows.set(changed, of: table, at: companion.key) == nil else { return nil }
        return values
    }
}

/// Data of this device alone that went with a row.
struct Companion {
    /// The table: that of the row itself, for its columns that do not sync.
    var table: String
    /// The local key.
    var key: RowKey
    var values: [(String, StoredValue)]
    /// The rows to which it refers, with the columns; none if it refers to another companion.
    var links: [(columns: [String], id: RowID)] = []
    /// Whether the row stayed, with an empty reference.
    var isEmptied = false

    /// Returns the values in the order of a table's stored columns; `nil` if one is missing.
    fileprivate func values(in table: TableSchema) -> [StoredValue]? {
        let known = Dictionary(values.map { ($0.0.exact, $0.1) }) { first, _ in first }
        let found = table.storedNames.map { known[$0.exact] }
        return found.contains { $0 == nil } ? nil : found.compactMap(\.self)
    }
}

extension Companion {
    fileprivate init(_ follower: Companions.Follower, _ table: TableSchema) {
        self.init(
            table: table.name,
            key: follower.place.key,
            values: Array(zip(table.storedNames, follower.values))
        )
    }
}

extension OutsideReference {
    /// The names of its columns.
    fileprivate var names: [String] { columns.map { table.columns[$0].name } }
}

extension TableSchema {
    /// The names of the stored columns.
    fileprivate var storedNames: [String] { storedColumns.map { columns[$0].name } }

    /// Returns the index of a column among the stored ones.
    fileprivate func index(of column: Int) -> Int { storedColumns.firstIndex(of: column) ?? 0 }

    /// Returns whether a unique key has one of some columns.
    fileprivate func isInUniqueKey(_ places: [Int]) -> Bool {
        primaryKey.contains(where: places.contains)
            || indexes.contains { index in
                index.isUnique && index.keys.contains { $0.column.map(places.contains) ?? true }
            }
    }
}

extension TableMapping {
    /// The stored columns that do not sync, without the rowid.
    var localColumns: [Int] {
        let own = Set(columns.map(\.place))
        return storedColumns.filter { !own.contains($0) && $0 != schema.rowIDAlias }
    }
}

extension ColumnSchema {
    /// The constant default; NULL if there is none.
    fileprivate var constant: StoredValue {
        if case .constant(let value) = defaultValue { value } else { .null }
    }
}
