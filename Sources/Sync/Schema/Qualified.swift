internal import Stores

/// A table that syncs, before its references are known.
struct Qualified {
    /// Whether a table syncs.
    enum Verdict {
        case syncs(Qualified)
        case leftOut(LeftOut.Reason)
        case refused(SyncRefusal)
    }

    let schema: TableSchema
    let identity: SyncTable.Identity
    /// The places of the columns that do not travel.
    let local: Set<Int>

    /// In ASCII lower case.
    var name: String { schema.name.foldedIdentifier }

    /// Whether the rows' numbers are this file's alone.
    var hasOwnNumbers: Bool {
        guard let alias = schema.rowIDAlias else { return false }
        return identity != .key([alias])
    }

    /// The table with its references.
    func table(_ references: [SyncReference], _ rules: SchemaRules) -> SyncTable {
        let rule = rules.tables[name]
        let columns = schema.storedColumns.filter { place in
            !local.contains(place) && !(hasOwnNumbers && place == schema.rowIDAlias)
        }
        return SyncTable(
            schema: schema,
            wireName: rule?.was ?? name,
            identity: identity,
            columns: columns.map { place in
                let folded = schema.columns[place].name.foldedIdentifier
                return SyncColumn(
                    place: place,
                    wireName: rule?.renamed[folded] ?? folded,
                    reference: references.firstIndex { $0.columns == [place] }
                )
            },
            references: references
        )
    }
}

extension Qualified.Verdict {
    /// Judges a table by itself.
    init(of table: TableSchema, _ rules: SchemaRules) {
        let name = table.name.foldedIdentifier
        switch table.kind {
        case .virtual: self = .leftOut(.virtual)
        case .shadow: self = .leftOut(.shadow)
        case .view: self = .leftOut(.view)
        case .table where rules.exclude.contains(name): self = .leftOut(.excluded)
        case .table where LeftOut.migrationTables.contains(name) && rules.tables[name] == nil:
            self = .leftOut(.migrations)
        case .table where !table.isWithoutRowID && table.rowIDName == nil:
            self = .leftOut(.noRowID)
        case .table: self.init(ofReal: table, rules.tables[name] ?? SchemaRules.Table())
        }
    }

    private init(ofReal table: TableSchema, _ rule: SchemaRules.Table) {
        // A key that is left at home would leave rows without an identity.
        let local = Set(rule.local.compactMap(table.column)).subtracting(table.primaryKey)
        let identity: SyncTable.Identity
        if let columns = rule.identity {
            var places: [Int] = []
            for column in columns {
                guard let place = table.column(column), place != table.rowIDAlias,
                    !table.columns[place].isGenerated, !local.contains(place)
                else {
                    self = .refused(.identity(table: table.name, column: column))
                    return
                }
                places.append(place)
            }
            identity = .named(places)
        } else if let alias = table.rowIDAlias {
            // A number that is its parent's is known by the parent.
            let isReference = table.references.contains { $0.columns == [alias] }
            identity = rule.sharesKey || isReference ? .key([alias]) : .content
        } else if !table.primaryKey.isEmpty {
            identity = .key(table.primaryKey)
        } else {
            self = .leftOut(.noPrimaryKey)
            return
        }
        self = .syncs(Qualified(schema: table, identity: identity, local: local))
    }
}
