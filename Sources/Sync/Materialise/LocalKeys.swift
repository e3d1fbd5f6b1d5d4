internal import Changes
internal import Stores

/// The integer keys that rows have, or will get, in this store.
///
/// A key is never assigned twice: a deleted row keeps its key, in case it comes back.
struct LocalKeys {
    private let access: SidecarAccess
    private let finder: RowFinder
    private var keys: [RowID: Int64] = [:]
    /// The keys that were assigned here, and the greatest keys, by table.
    private var given: [TableName: Set<Int64>] = [:]
    private var greatest: [TableName: Int64] = [:]

    init(_ access: SidecarAccess, _ finder: RowFinder) {
        self.access = access
        self.finder = finder
    }

    /// Returns the key of a row that is alive.
    func key(of id: RowID) -> Int64? { keys[id] }

    /// Takes the keys of all shown rows of a table at once, instead of reading each.
    mutating func takeShown(of table: TableMapping, _ isAlive: (RowID) -> Bool) throws {
        try access.shadow.forEach(in: table.name) { row in
            if case .rowID(let number) = row.key, keys[row.id] == nil, isAlive(row.id) {
                keys[row.id] = number
            }
        }
    }

    /// Assigns keys to rows of a table: their present or former keys, the hint if it is free, or new keys.
    ///
    /// - Parameters:
    ///   - rows: the rows.
    ///   - table: their table.
    ///   - shownKey: a closure that returns the key at which a row is shown.
    /// - Throws: `SidecarError`, `StoreError`; any error of `shownKey`.
    mutating func assign(
        _ rows: [RowDelta],
        of table: TableMapping,
        _ shownKey: (RowID) throws -> RowKey?
    ) throws {
        var newcomers: [RowDelta] = []
        for row in rows where keys[row.id] == nil {
            if case .rowID(let number)? = try shownKey(row.id) {
                keys[row.id] = number
            } else if case .rowID(let number)? = try access.shadow.formerKey(of: row.id),
                try isFree(number, in: table)
            {
                give(number, to: row.id, in: table.name)
            } else {
                newcomers.append(row)
            }
        }
        if newcomers.isEmpty { return }
        // Core Data has a counter of its own.
        var next = max(
            try greatest[table.name] ?? greatestKey(of: table),
            given[table.name]?.max() ?? 0,
            table.coreData?.counter?.greatestKey ?? 0
        )
        for row in newcomers {
            if case .integer(let hint)? = row.hint,
                try isFree(hint, in: table),
                try access.shadow.formerID(at: .rowID(hint), in: table.name) == nil
            {
                give(hint, to: row.id, in: table.name)
                next = max(next, hint)
            }
        }
        for row in newcomers where keys[row.id] == nil {
            if next < .max { next += 1 }
            give(try next < .max ? next : anyFree(in: table), to: row.id, in: table.name)
        }
        greatest[table.name] = next
    }

    /// Takes the keys of a table's rows whose numbers are the same on all devices, or are their parents'.
    mutating func take(_ rows: [RowDelta], of table: TableMapping) {
        guard let column = table.sharedKey else { return }
        for row in rows {
            switch row.state.cell(column.name)?.value {
            case .integer(let number): keys[row.id] = number
            case .row(let parent): keys[row.id] = keys[parent]
            default: break
            }
        }
    }

    /// Returns a number that no row has or had, by chance, as SQLite does once the greatest number is taken.
    private func anyFree(in table: TableMapping) throws -> Int64 {
        while true {
            let number = Int64.random(in: 1..<(.max))
            if try isFree(number, in: table),
                try access.shadow.formerID(at: .rowID(number), in: table.name) == nil
            {
                return number
            }
        }
    }

    private func isFree(_ number: Int64, in table: TableMapping) throws -> Bool {
        guard given[table.name]?.contains(number) != true,
            try access.shadow.id(at: .rowID(number), in: table.name) == nil
        else { return false }
        if !table.isKeyless { return true }
        return try finder.values([], of: table.schema, at: .rowID(number)) == nil
    }

    /// Returns the greatest key of a table's rows, including those that do not sync because their names contain
    /// NULL.
    private func greatestKey(of table: TableMapping) throws -> Int64 {
        let shown = try access.shadow.greatestKey(in: table.name)
        return try table.isKeyless
            ? max(shown, finder.greatestRowID(of: table.schema) ?? 0) : shown
    }

    private mutating func give(_ number: Int64, to id: RowID, in table: TableName) {
        given[table, default: []].insert(number)
        keys[id] = number
    }
}
