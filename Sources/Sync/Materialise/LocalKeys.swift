internal import Changes
internal import Stores

/// The integer keys that rows have, or will have, in this store.
///
/// A key is never given out twice: a row that is deleted keeps its own, should it come back.
struct LocalKeys {
    private let access: SidecarAccess
    private var keys: [RowID: Int64] = [:]
    private var taken: [TableName: Set<Int64>] = [:]

    init(_ access: SidecarAccess) {
        self.access = access
    }

    /// Returns the key of a row, if it has one by now.
    func key(of id: RowID) -> Int64? { keys[id] }

    /// Gives keys to rows of a table: those that they have or had, the hint where it is free, or new ones.
    mutating func assign(_ rows: [RowDelta], of table: TableMapping) throws {
        var taken = taken[table.name] ?? []
        try access.forEachShown(in: table.name) { row in
            if case .rowID(let number) = row.key {
                keys[row.id] = number
                taken.insert(number)
            }
        }
        var newcomers: [RowDelta] = []
        for row in rows where keys[row.id] == nil {
            if case .rowID(let number)? = try access.formerKey(of: row.id),
                try access.id(at: .rowID(number), in: table.name) == nil,
                taken.insert(number).inserted
            {
                keys[row.id] = number
            } else {
                newcomers.append(row)
            }
        }
        // Core Data has a counter of its own.
        var next = max(
            try access.greatestKey(in: table.name),
            taken.max() ?? 0,
            table.coreData?.counter?.greatestKey ?? 0
        )
        for row in newcomers {
            if case .integer(let hint)? = row.hint, hint > 0, hint < 1 << 53, !taken.contains(hint),
                try access.formerID(at: .rowID(hint), in: table.name) == nil
            {
                taken.insert(hint)
                keys[row.id] = hint
                next = max(next, hint)
            }
        }
        for row in newcomers where keys[row.id] == nil {
            guard next < .max else { throw access.damaged("'\(table.name)' has no key left") }
            next += 1
            taken.insert(next)
            keys[row.id] = next
        }
        self.taken[table.name] = taken
    }
}
