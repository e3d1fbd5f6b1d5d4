internal import Changes
internal import Stores

// The rows that depend on rows whose view has changed.
extension ViewPart {
    /// Adds the rows that depend on changes in the view of the part.
    ///
    /// - Returns: whether the part has grown.
    /// - Throws: `StoreError`, `SidecarError`.
    mutating func grow(
        by view: StoreView,
        _ mirror: Mirror,
        _ finder: RowFinder
    ) throws -> Bool {
        let count = ids.count
        let desired = Dictionary(
            view.rows.flatMap { table, rows in rows.map { ($0.id, (table: table, row: $0)) } }
        ) { first, _ in first }
        let held = Dictionary(view.held.map { ($0.id, $0) }) { first, _ in first }
        var gone: [RowID] = []
        try addChildrenOfRemoved(finder)
        for id in ids {
            let (old, new) = (shadow[id], desired[id])
            var isOther = old?.table != new?.table || old?.row.image != new?.row.image
            isOther = isOther || old?.row.causalLength != new?.row.causalLength
            isOther = isOther || old?.row.key != new?.row.key
            if !isOther {
                isOther = try access.held.row(id)?.standIn != held[id]?.standIn
            }
            guard isOther else { continue }
            try spread(id)
            if let old, left.contains(id) == false, try loses(old, new?.row, finder) {
                left.insert(id)
                gone.append(id)
            }
        }
        try addChildren(of: gone, finder)
        try addCompetitors(view, mirror, finder)
        try fill(finder)
        return ids.count > count
    }

    /// Returns whether rows of the store may refer to a key or values that a row no longer has.
    private func loses(
        _ old: Place,
        _ new: StoreView.DesiredRow?,
        _ finder: RowFinder
    ) throws -> Bool {
        guard let new, new.key == old.row.key else { return true }
        guard let table = tables[old.table], let references = callers[old.table] else {
            return false
        }
        for reference in references {
            let columns = table.columns(reference.targets)
            let values = try finder.values(
                columns.map(\.place),
                of: table.schema,
                at: old.row.key
            )
            if values != columns.map({ new.values[$0.index] ?? .null }) { return true }
        }
        return false
    }

    /// Adds the rows of the store that refer to rows as they were.
    private mutating func addChildren(of gone: [RowID], _ finder: RowFinder) throws {
        var numbers: [TableName: [Int64]] = [:]
        for id in gone {
            guard let old = shadow[id] else { continue }
            if case .rowID(let number) = old.row.key {
                numbers[old.table, default: []].append(number)
            }
            try addChildren(byValue: old, finder)
        }
        try addChildren(numbers: numbers, finder)
    }

    /// Adds the rows of the store that refer to rows that the application removed without updating them.
    private mutating func addChildrenOfRemoved(_ finder: RowFinder) throws {
        var numbers: [TableName: [Int64]] = [:]
        for id in spread.subtracting(left) where shadow[id] == nil {
            left.insert(id)
            guard let table = rows[id]?.table,
                case .rowID(let number)? = try access.shadow.formerKey(of: id)
            else { continue }
            numbers[table, default: []].append(number)
        }
        try addChildren(numbers: numbers, finder)
    }

    private mutating func addChildren(numbers: [TableName: [Int64]], _ finder: RowFinder) throws {
        if numbers.isEmpty { return }
        for table in tables.values {
            for column in table.columns {
                guard let parent = column.parent, let numbers = numbers[parent] else { continue }
                let keys = try finder.keys(
                    of: table.schema,
                    whereColumn: column.place,
                    isIn: numbers
                )
                try add(keys, of: table)
            }
        }
    }

    private mutating func addChildren(byValue old: Place, _ finder: RowFinder) throws {
        guard callers[old.table] != nil, let parent = tables[old.table] else { return }
        for table in tables.values {
            for reference in table.references
            where reference.isByValue && reference.table == old.table {
                let values = try finder.values(
                    parent.columns(reference.targets).map(\.place),
                    of: parent.schema,
                    at: old.row.key
                )
                guard let values, !values.contains(.null) else { continue }
                let terms = table.terms(of: reference, to: parent)
                guard terms.count == values.count else { continue }
                try add(finder.keys(of: table.schema, where: terms, are: values), of: table)
            }
        }
    }

    /// Adds the rows that share a unique key with a row of the part.
    ///
    /// These are rows of the store, if the row of the part has changed, and rows with a stand-in.
    private mutating func addCompetitors(
        _ view: StoreView,
        _ mirror: Mirror,
        _ finder: RowFinder
    ) throws {
        let hasCompetitors = try access.held.hasCompetitors
        for (key, asked) in view.asked {
            guard let table = tables[key.table] else { continue }
            if hasCompetitors { try addHeld(like: asked, of: table, mirror) }
            let image = shadow[key.id]?.row.image
            for values in asked {
                // The store has the row with these keys, so no other row has them, unless only the map says so.
                if !table.isNamed, table.image(values, view.numbers[table.name] ?? []) == image {
                    continue
                }
                guard let keys = try mirror.rows(like: values, of: table.schema, in: finder) else {
                    isOpen = true
                    return
                }
                try add(keys, of: table)
            }
        }
    }

    /// Adds the rows that have a stand-in, and one of the keys.
    private mutating func addHeld(
        like asked: Set<[StoredValue]>,
        of table: TableMapping,
        _ mirror: Mirror
    ) throws {
        for values in asked {
            for name in try mirror.keyNames(values, of: table) {
                for id in try access.held.dependants(on: name) { try add(id) }
            }
        }
    }

    private mutating func add(_ keys: [RowKey], of table: TableMapping) throws {
        for key in keys {
            if let id = try access.shadow.id(at: key, in: table.name) { try add(id) }
        }
    }
}

extension HeldRow {
    /// The row that is shown in its place, if any.
    fileprivate var standIn: RowID? { why == .same || why == .unique ? other : nil }
}

extension TableMapping {
    fileprivate func columns(_ names: [ColumnName]) -> [ColumnMapping] {
        names.compactMap { name in columns.first { $0.name == name } }
    }
}
