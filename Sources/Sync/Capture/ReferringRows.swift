internal import Changes
internal import Stores

/// The captured rows of a table with references to rows whose keys may have changed.
struct ReferringRows {
    let capture: TableCapture

    var table: TableMapping { capture.table }
    private var numbers: [Int64] { capture.numbers }

    /// Returns the values of a reference in an image; `nil` if one is NULL.
    func parts(
        of reference: ViewSchema.Reference,
        _ image: RowImage
    ) throws -> [RowImage.Part]? {
        let parts = try image.partsByColumn()
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

    /// Returns the former and present values of a reference, of each row in which they differ.
    ///
    /// A row whose own key contains the reference is known by the rest of its key: it was made again.
    func moves(
        along reference: ViewSchema.Reference
    ) throws -> [(old: [RowImage.Part], new: [RowImage.Part], isMadeAgain: Bool)] {
        var found: [(old: [RowImage.Part], new: [RowImage.Part], isMadeAgain: Bool)] = []
        for (old, values, _) in capture.changed {
            guard let was = try parts(of: reference, old.image),
                let present = parts(of: reference, values), was != present
            else { continue }
            found.append((was, present, false))
        }
        guard hasKey(with: reference) else { return found }
        let rest = table.schema.primaryKey.compactMap { place in
            table.columns.firstIndex { $0.place == place }
        }.filter { !reference.columns.contains(table.columns[$0].name) }
        var olds: [[RowImage.Part]: [[RowImage.Part]]] = [:]
        for row in capture.gone {
            let image = try row.image.partsByColumn()
            guard let was = try parts(of: reference, row.image) else { continue }
            olds[rest.map { image[numbers[$0]] ?? .value(.null) }, default: []].append(was)
        }
        for row in capture.news {
            let key = rest.map { table.columns[$0].part(row.values) }
            guard let present = parts(of: reference, row.values) else { continue }
            for was in olds[key] ?? [] { found.append((was, present, true)) }
        }
        return found
    }
}

extension RowImage.Part {
    /// The value; `nil` if only its hash is known.
    var stored: StoredValue? { if case .value(let value) = self { value } else { nil } }
}
