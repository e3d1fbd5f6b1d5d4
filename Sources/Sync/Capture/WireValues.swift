internal import Changes
internal import Files
internal import Stores

/// The conversion of a store's values to their form for change files.
struct WireValues {
    let tables: [TableMapping]
    let access: SidecarAccess
    /// The files that rows may name.
    let files: ExternalFiles
    /// The store's rows; without them, each reference by value counts as one that names a row.
    let finder: RowFinder?

    /// Returns a value in its form for change files; a reference becomes the id of the row that it names.
    func wire(_ value: StoredValue, of column: ColumnMapping) throws -> Value {
        guard let parent = column.parent else {
            if let file = column.files?.file(value) {
                if let content = try files.content(of: file) {
                    return .file(name: file.path.bytes, content: content)
                }
                if try column.files?.form == .path || files.isTooLong(file) {
                    try access.awaited.add(file, files)
                }
            }
            // A reference to a file that is missing here is sent as the blob that it is.
            return (column.entities?.name(value) ?? value).wire
        }
        // What names no row is sent as it is.
        guard case .integer(let number) = KeyComparison.folded(value, .integer),
            let id = try access.shadow.id(at: .rowID(number), in: parent)
        else { return value.wire }
        return .row(id)
    }

    /// Returns the values of a row's columns in their form for change files.
    ///
    /// A reference by value that names no row is marked, so that nobody takes that row for deleted.
    func wires(_ values: [StoredValue], of table: TableMapping) throws -> [Value] {
        var wires = try table.columns.map { try wire(values[$0.index], of: $0) }
        var naming: Set<ColumnName> = []
        var plain: [[ColumnName]] = []
        for reference in table.references where reference.isByValue {
            switch try target(of: reference, values, of: table) {
            case .nothing: plain.append(reference.columns)
            case .unknown: naming.formUnion(reference.columns)
            case .row(let id):
                naming.formUnion(reference.columns)
                for place in reference.ownPlaces(in: table) {
                    wires[place] = wires[place].naming(id)
                }
            }
        }
        for names in plain {
            let own = names.filter { !naming.contains($0) }
            for name in own.isEmpty ? names : own {
                guard let place = table.place(of: name), wires[place] != .null else { continue }
                switch wires[place] {
                case .row, .file, .plain, .naming: break
                default: wires[place] = .plain(wires[place])
                }
            }
        }
        return wires
    }

    /// The row of the store that values refer to.
    private enum Target {
        case nothing
        /// Its id is made of the values, or is not known.
        case unknown
        case row(RowID)
    }

    private func target(
        of reference: ViewSchema.Reference,
        _ values: [StoredValue],
        of table: TableMapping
    ) throws -> Target {
        guard let parent = tables.first(where: { $0.name == reference.table }), let finder else {
            return .unknown
        }
        let named = reference.columns.compactMap { name in
            table.place(of: name).map { values[table.columns[$0].index] }
        }
        let terms = reference.targets.compactMap { parent.sql(of: $0) }
        guard terms.count == named.count, !named.contains(.null) else { return .unknown }
        let found = try finder.keys(of: parent.schema, where: terms, are: named)
        guard let key = found.first else { return .nothing }
        guard keepsID(of: parent, renamedBy: reference.targets),
            let id = try access.shadow.id(at: key, in: parent.name)
        else { return .unknown }
        return .row(id)
    }

    /// Returns whether a reference by value in the rows' own keys may name a row that can get another name.
    func namesRows(byKeyOf table: TableMapping) -> Bool {
        table.references.contains { reference in
            guard reference.isByValue, !table.key.isDisjoint(with: reference.columns),
                let parent = tables.first(where: { $0.name == reference.table })
            else { return false }
            return keepsID(of: parent, renamedBy: reference.targets)
        }
    }

    /// Returns whether a row keeps its id if some columns change: the id is not made of them.
    private func keepsID(of table: TableMapping, renamedBy targets: [ColumnName]) -> Bool {
        guard case .key = table.identity, table.key == Set(targets) else { return true }
        return table.references.contains { $0.isByValue && !table.key.isDisjoint(with: $0.columns) }
    }
}

extension Value {
    /// Returns the value with the row that it names, if it can have one.
    fileprivate func naming(_ id: RowID) -> Value {
        switch self {
        case .integer, .real, .text, .blob, .longText, .longBlob: .naming(id, self)
        case .null, .row, .file, .plain, .naming: self
        }
    }
}
