internal import Files
internal import Stores

/// The references among tables that sync: declared by the schema, or by the map.
struct References {
    /// The references, by the tables' names in ASCII lower case.
    private(set) var found: [ExactString: [SyncReference]] = [:]
    private(set) var refusals: [SyncRefusal] = []

    private let tables: [ExactString: Qualified]
    private let schema: StoreSchema

    /// Finds the references.
    ///
    /// - Throws: any error of `seemsToRefer`.
    init(
        among qualified: [Qualified],
        in schema: StoreSchema,
        rules: SchemaRules,
        seemsToRefer: (TableSchema, Int, TableSchema) throws -> Bool
    ) throws {
        tables = Dictionary(qualified.map { ($0.name, $0) }) { first, _ in first }
        self.schema = schema
        for table in qualified {
            let rule = rules.tables[table.name]?.references ?? [:]
            addDeclared(of: table, rule)
            addNamed(of: table, rule)
            if table.coreData != nil {
                addModelled(of: table, rule)
                continue
            }
            for place in table.schema.storedColumns where mayRefer(table, place, rule) {
                try look(at: table, place, seemsToRefer)
            }
        }
        while addPassedOn(qualified) {}
        for table in qualified { keepOne(of: table) }
    }

    // MARK: - Declared

    /// Adds the references to rows whose numbers are passed on: a column refers to a column that refers to a row by its
    /// number, or that is the number of its own row.
    ///
    /// - Returns: whether there were any, so that these may be passed on as well.
    private mutating func addPassedOn(_ qualified: [Qualified]) -> Bool {
        var hasAdded = false
        for table in qualified {
            for reference in found[table.name] ?? [] where !namesNumbers(reference) {
                for (place, target) in zip(reference.columns, reference.parentColumns) {
                    guard let passed = number(at: target, of: reference.parent),
                        found[table.name]?.contains(where: {
                            $0.columns == [place] && namesNumbers($0)
                        }) == false
                    else { continue }
                    let added = SyncReference(
                        columns: [place],
                        parent: passed.parent,
                        parentColumns: passed.parentColumns,
                        onDelete: reference.onDelete,
                        isDeclared: false
                    )
                    // It says how the column's values travel.
                    found[table.name]?.insert(added, at: 0)
                    hasAdded = true
                }
            }
        }
        return hasAdded
    }

    /// Returns the reference to the row whose number a column of a table has; `nil` if it has none.
    private func number(at place: Int, of name: ExactString) -> SyncReference? {
        guard let table = tables[name] else { return nil }
        if table.schema.areRowID([place]), table.hasOwnNumbers {
            return SyncReference(
                columns: [place],
                parent: name,
                parentColumns: [place],
                onDelete: .none,
                isDeclared: false
            )
        }
        return found[name]?.first { $0.columns == [place] && namesNumbers($0) }
    }

    /// Leaves one reference by number of each column: that to the table whose rows share the numbers of the others.
    private mutating func keepOne(of table: Qualified) {
        var all = found[table.name] ?? []
        let numbered = all.filter { $0.columns.count == 1 && namesNumbers($0) }
        for (column, references) in Dictionary(grouping: numbered, by: \.columns)
        where Set(references.map(\.parent)).count > 1 {
            let parents = Set(references.map(\.parent))
            let kept =
                references.first { reference in
                    let shared = tables[reference.parent]?.schema.rowIDAlias
                        .flatMap { place in
                            found[reference.parent]?.first { $0.columns == [place] }
                        }
                    return shared.map { parents.contains($0.parent) } ?? false
                } ?? references[0]
            all.removeAll {
                $0.columns == column && namesNumbers($0) && $0.parent != kept.parent
            }
        }
        if !numbered.isEmpty { found[table.name] = all }
    }

    private func namesNumbers(_ reference: SyncReference) -> Bool {
        tables[reference.parent]?.schema.areRowID(reference.parentColumns) ?? false
    }

    private mutating func addDeclared(
        of table: Qualified,
        _ rule: [ExactString: SchemaRules.Reference]
    ) {
        for reference in table.schema.references
        where table.local.isDisjoint(with: reference.columns) {
            guard let parent = schema.table(reference.parent) else { continue }
            let parentColumns =
                reference.parentColumns?.compactMap(parent.column) ?? parent.primaryKey
            guard parentColumns.count == reference.columns.count else { continue }
            if isLeftOut(parent), !parent.areRowID(parentColumns) {
                refuse(table, reference.columns, parent, rule)
                continue
            }
            add(table, reference.columns, parent, parentColumns, reference.onDelete, true)
        }
    }

    private func isLeftOut(_ parent: TableSchema) -> Bool {
        tables[parent.name.foldedIdentifier] == nil
    }

    /// Refuses a reference by value to rows that do not sync, unless the map says that it is none.
    ///
    /// The value means the same elsewhere, but the row may not exist there, and the constraint would be broken.
    private mutating func refuse(
        _ table: Qualified,
        _ columns: [Int],
        _ parent: TableSchema,
        _ rule: [ExactString: SchemaRules.Reference]
    ) {
        let names = columns.map { table.schema.columns[$0].name }
        let isNone = names.contains { rule[$0.foldedIdentifier] == SchemaRules.Reference.none }
        guard !isNone, let column = names.first else { return }
        refusals.append(
            .referenceToLeftOut(
                table: table.schema.name,
                column: column,
                parent: parent.name,
                isByValue: true
            )
        )
    }

    private mutating func addNamed(
        of table: Qualified,
        _ rule: [ExactString: SchemaRules.Reference]
    ) {
        for (column, target) in rule.sorted(by: { $0.key < $1.key }) {
            guard case .table(let name) = target, let place = table.schema.column(column),
                !(found[table.name] ?? []).contains(where: { $0.columns == [place] })
            else { continue }
            let parent = schema.table(name)
            let key = parent.map { parent in parent.rowIDAlias.map { [$0] } ?? parent.primaryKey }
            guard let parent, let key, key.count == 1 else {
                // The number would be sent as it is, and name another row elsewhere.
                refusals.append(
                    .unknownReference(
                        table: table.schema.name,
                        column: table.schema.columns[place].name,
                        parent: name.text
                    )
                )
                continue
            }
            add(table, [place], parent, key, .none, false)
        }
    }

    /// Adds the references of a Core Data model; without a model, the map must name them.
    private mutating func addModelled(
        of table: Qualified,
        _ rule: [ExactString: SchemaRules.Reference]
    ) {
        let columns = (table.coreData?.columns ?? [:]).sorted { $0.key < $1.key }
        for (place, column) in columns where !table.local.contains(place) {
            let name = table.schema.columns[place].name
            guard rule[name.foldedIdentifier] == nil else { continue }
            if column.isUncertain {
                refusals.append(
                    .undeclaredReference(table: table.schema.name, column: name, parent: nil)
                )
            } else if let reference = column.reference, let parent = schema.table(reference.parent),
                let key = parent.rowIDAlias
            {
                add(table, [place], parent, [key], .none, false, reference.isRequired)
            }
        }
    }

    private mutating func add(
        _ table: Qualified,
        _ columns: [Int],
        _ parent: TableSchema,
        _ parentColumns: [Int],
        _ onDelete: ReferenceSchema.Action,
        _ isDeclared: Bool,
        _ isRequired: Bool = false
    ) {
        let name = parent.name.foldedIdentifier
        guard tables[name] != nil else {
            // Other values mean the same on all devices, with or without the rows, since no constraint requires
            // these.
            if parent.areRowID(parentColumns) {
                refusals.append(
                    .referenceToLeftOut(
                        table: table.schema.name,
                        column: table.schema.columns[columns[0]].name,
                        parent: parent.name
                    )
                )
            }
            return
        }
        let reference = SyncReference(
            columns: columns,
            parent: name,
            parentColumns: parentColumns,
            onDelete: onDelete,
            isDeclared: isDeclared,
            isRequired: isRequired
        )
        found[table.name, default: []].append(reference)
    }

    // MARK: - Not declared

    /// Returns whether a column could hold numbers of rows, while neither the schema nor the map decides this.
    private func mayRefer(
        _ table: Qualified,
        _ place: Int,
        _ rule: [ExactString: SchemaRules.Reference]
    ) -> Bool {
        let column = table.schema.columns[place]
        let isNumber = column.affinity == .integer || column.declaredType.isEmpty
        return isNumber && place != table.schema.rowIDAlias && !table.local.contains(place)
            && rule[column.name.foldedIdentifier] == nil
            && !table.schema.references.contains { $0.columns.contains(place) }
    }

    /// Refuses a column that looks like a reference to rows whose numbers differ between devices.
    private mutating func look(
        at table: Qualified,
        _ place: Int,
        _ seemsToRefer: (TableSchema, Int, TableSchema) throws -> Bool
    ) throws {
        let column = table.schema.columns[place].name
        let name = NamedParent(column)
        let parent = name.stem.flatMap { named($0) }
        var looksLikeOne = false
        if let parent {
            looksLikeOne = parent.hasOwnNumbers
        } else if name.isSure {
            // Such a name does not name the table: 'parent_id', 'owner_id'.
            looksLikeOne = tables.values.contains(where: \.hasOwnNumbers)
        } else if let namesake = named(column.foldedIdentifier.text), namesake.hasOwnNumbers {
            looksLikeOne = try seemsToRefer(table.schema, place, namesake.schema)
        }
        guard looksLikeOne else { return }
        let meant = parent ?? named(column.foldedIdentifier.text)
        refusals.append(
            .undeclaredReference(
                table: table.schema.name,
                column: column,
                parent: meant?.schema.name
            )
        )
    }

    /// Returns the table that a name means, in the singular or the plural.
    private func named(_ stem: String) -> Qualified? {
        tables.values.filter { NamedParent.isNamed($0.name, stem) }.min { $0.name < $1.name }
    }
}

extension StoreSnapshot {
    /// The greatest number of values that are looked up.
    private static let referencesLimit = 10_000

    /// Returns whether a column has values, and all are numbers of rows of a table.
    ///
    /// A few values suffice: a needless question is better than references to wrong rows. In long tables only the
    /// first 10,000 different values are examined.
    func seemsToRefer(
        from table: TableSchema,
        _ column: Int,
        to parent: TableSchema
    ) throws -> Bool {
        var values: Set<Int64> = []
        var cursor = try rows(of: table, columns: [column])
        while values.count < Self.referencesLimit, try cursor.next() {
            switch cursor.storageClass(0) {
            case .null: continue
            case .integer: values.insert(cursor.integer(0))
            default: return false
            }
        }
        guard !values.isEmpty else { return false }
        var parents = try rows(of: parent, columns: [])
        while !values.isEmpty, try parents.next() { values.remove(parents.rowID) }
        return values.isEmpty
    }
}
