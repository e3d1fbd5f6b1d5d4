internal import Changes
internal import Stores

/// The captured rows of a table with references to rows whose keys may have changed.
struct ReferringRows {
    let capture: TableCapture

    var table: TableMapping { capture.table }
    private var numbers: [Int64] { capture.numbers }

    /// Returns the values of a reference in a row as it was; `nil` if one is NULL.
    func parts(
        of reference: ViewSchema.Reference,
        _ row: ShownRow
    ) throws -> [RowImage.Part]? {
        let parts = try table.parts(of: row, numbers)
        return folded(
            reference,
            reference.columns.map { name in
                table.place(of: name).flatMap { parts[numbers[$0]] } ?? .value(.null)
            }
        )
    }

    private func parts(
        of reference: ViewSchema.Reference,
        _ values: [StoredValue]
    ) -> [RowImage.Part]? {
        folded(
            reference,
            reference.columns.map { name in
                table.place(of: name).map { table.columns[$0].part(values) } ?? .value(.null)
            }
        )
    }

    /// Returns values of a reference in one form, if they are numbers; `nil` if one is NULL.
    private func folded(
        _ reference: ViewSchema.Reference,
        _ parts: [RowImage.Part]
    ) -> [RowImage.Part]? {
        if parts.contains(.value(.null)) { return nil }
        if reference.isByValue { return parts }
        return parts.map { part in
            part.stored.map { .value(KeyComparison.folded($0, .integer)) } ?? part
        }
    }

    /// Returns whether a row is gone, or may show that a row of a table has another key than before.
    func mayProve(_ parent: TableName) throws -> Bool {
        let references = table.references.filter { $0.table == parent }
        return try !capture.gone.isEmpty
            || capture.changed.contains { row in
                // A row whose own key names the other one shows by its content that the two have moved.
                try references.contains {
                    try hasKey(with: $0) || parts(of: $0, row.old) != parts(of: $0, row.values)
                        || isOther(row, but: $0)
                }
            }
    }

    /// Returns whether nothing but a reference shows that a changed row is still the same.
    func isOther(_ row: TableCapture.Changed, but reference: ViewSchema.Reference) throws -> Bool {
        guard table.isNumbered else { return false }
        let was = try table.parts(of: row.old, numbers)
        var likeness = Likeness()
        for (column, number) in zip(table.columns, numbers)
        where !reference.columns.contains(column.name) && !column.isBlank(was[number]) {
            likeness.count(isEqual: was[number] == column.part(row.values), isText: false)
        }
        return likeness.filled > 0 && likeness.equal == 0
    }

    /// Returns whether the rows' own keys contain a reference.
    func hasKey(with reference: ViewSchema.Reference) -> Bool {
        columnsOfKey(naming: reference.table).contains { reference.columns.contains($0.name) }
    }

    /// Returns the columns of the rows' own keys that refer to a table.
    func columnsOfKey(naming parent: TableName) -> [ColumnMapping] {
        let names = Set(table.references.filter { $0.table == parent }.flatMap(\.columns))
        return table.columns.filter { column in
            names.contains(column.name)
                && (table.schema.rowIDAlias == column.place
                    || table.schema.rowIDAlias == nil
                        && table.schema.primaryKey.contains(column.place))
        }
    }

    /// Returns the local key of a row with an image.
    func key(of image: RowImage, else key: RowKey) throws -> RowKey {
        let parts = try image.partsByColumn()
        func value(_ place: Int, _ old: StoredValue) -> StoredValue {
            let index = table.columns.firstIndex { $0.place == place }
            return index.flatMap { parts[numbers[$0]]?.stored } ?? old
        }
        if let alias = table.schema.rowIDAlias {
            if case .integer(let number) = value(alias, .null) { return .rowID(number) }
            return key
        }
        return RowKey(primaryKey: zip(table.schema.primaryKey, key.values).map { value($0, $1) })
    }

    /// Moves rows in the shadow to other keys, and hides the rows that go; the table has to be scanned after that.
    func move(
        _ moved: [(old: ShownRow, new: ShownRow)],
        displacing gone: [ShownRow],
        in access: SidecarAccess
    ) throws {
        for row in moved.map(\.old) + gone { try access.shadow.hide(row, in: table.name) }
        for (_, row) in moved {
            try access.shadow.show(row, in: table.name)
            try access.shadow.forgetFormerKey(of: row.id)
        }
        (capture.gone, capture.news, capture.changed) = (gone, [], [])
        // Pages that have not changed are compared as well.
        capture.isScanned = true
    }

    /// A row that refers to another key than before.
    typealias Move = (from: RowKey, to: RowKey, isMadeAgain: Bool)

    /// Returns the former and present keys that a reference names, of each row in which they differ.
    ///
    /// A row whose own key contains the reference is known by the rest of its key: it was made again.
    ///
    /// - Parameters:
    ///   - reference: the reference.
    ///   - former: a closure that returns the key that values named; `nil` if that row is as it was.
    ///   - present: a closure that returns the key that values name; `nil` if that row is as it was.
    /// - Returns: the moves.
    /// - Throws: `FormatBreach`.
    func moves(
        along reference: ViewSchema.Reference,
        from former: ([RowImage.Part]) -> RowKey?,
        to present: ([RowImage.Part]) -> RowKey?
    ) throws -> [Move] {
        var found: [Move] = []
        for (old, values, _) in capture.changed {
            guard let from = try parts(of: reference, old).flatMap(former),
                let to = parts(of: reference, values).flatMap(present), from != to
            else { continue }
            found.append((from, to, false))
        }
        guard hasKey(with: reference) else { return found }
        let rest = table.schema.primaryKey.compactMap { place in
            table.columns.firstIndex { $0.place == place }
        }.filter { !reference.columns.contains(table.columns[$0].name) }
        if rest.isEmpty { return try found + moves(ofContent: reference, former, present) }
        var olds: [[RowImage.Part]: [RowKey]] = [:]
        for row in capture.gone {
            guard let from = try parts(of: reference, row).flatMap(former) else { continue }
            let image = try table.parts(of: row, numbers)
            olds[rest.map { image[numbers[$0]] ?? .value(.null) }, default: []].append(from)
        }
        for row in capture.news {
            guard let to = parts(of: reference, row.values).flatMap(present) else { continue }
            let key = rest.map { table.columns[$0].part(row.values) }
            for from in olds[key] ?? [] where from != to { found.append((from, to, true)) }
        }
        return found
    }

    /// Returns the moves of rows whose own key is a reference, each known by content that no other of them has.
    private func moves(
        ofContent reference: ViewSchema.Reference,
        _ former: ([RowImage.Part]) -> RowKey?,
        _ present: ([RowImage.Part]) -> RowKey?
    ) throws -> [Move] {
        let places = table.columns.indices.filter {
            !reference.columns.contains(table.columns[$0].name)
        }
        var olds: [[RowImage.Part]: [RowKey]] = [:]
        for row in capture.gone + capture.changed.map(\.old) {
            guard let from = try parts(of: reference, row).flatMap(former) else { continue }
            let image = try table.parts(of: row, numbers)
            olds[places.map { image[numbers[$0]] ?? .value(.null) }, default: []].append(from)
        }
        var news: [[RowImage.Part]: [RowKey]] = [:]
        for values in capture.news.map(\.values) + capture.changed.map(\.values) {
            guard let to = parts(of: reference, values).flatMap(present) else { continue }
            news[places.map { table.columns[$0].part(values) }, default: []].append(to)
        }
        return olds.compactMap { content, from in
            guard from.count == 1, let to = news[content], to.count == 1, from != to,
                zip(places, content).contains(where: { !table.columns[$0].isBlank($1) })
            else { return nil }
            return (from[0], to[0], false)
        }
    }
}

extension TableMapping {
    /// Returns whether rows of the table may refer to rows of another one, or of itself.
    func refers(to other: TableName) -> Bool { references.contains { $0.table == other } }
}

extension RowImage.Part {
    /// The value; `nil` if only its hash is known.
    var stored: StoredValue? { if case .value(let value) = self { value } else { nil } }
}
