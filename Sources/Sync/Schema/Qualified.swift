internal import Changes
internal import Files
internal import Stores

/// A table that syncs, before its references are known.
struct Qualified {
    /// The decision whether a table syncs.
    enum Verdict {
        case syncs(Qualified)
        case leftOut(LeftOut.Reason)
        case refused(SyncRefusal)
    }

    let schema: TableSchema
    let identity: SyncTable.Identity
    /// The indices of the columns that do not sync.
    let local: Set<Int>
    /// Its form in change files, if it belongs to a Core Data store.
    var coreData: CoreDataTable?

    /// The table's name, in ASCII lower case.
    var name: ExactString { schema.name.foldedIdentifier }

    /// Whether the rows' numbers are valid in this file only.
    var hasOwnNumbers: Bool {
        guard let alias = schema.rowIDAlias else { return false }
        return identity != .key([alias])
    }

    /// Returns the table with its references.
    func table(_ references: [SyncReference], _ rules: SchemaRules) -> SyncTable {
        let rule = rules.tables[name]
        let columns = schema.storedColumns.filter { place in
            !local.contains(place) && !(hasOwnNumbers && place == schema.rowIDAlias)
        }
        return SyncTable(
            schema: schema,
            wireName: rule?.was ?? coreData?.wireName ?? name.text,
            identity: identity,
            columns: columns.map { place in
                let folded = schema.columns[place].name.foldedIdentifier
                return SyncColumn(
                    place: place,
                    wireName: rule?.renamed[folded] ?? coreData?.columns[place]?.wireName
                        ?? folded.text,
                    reference: references.firstIndex { $0.columns == [place] },
                    isEntity: coreData?.columns[place]?.isEntity ?? false,
                    files: rule?.files[folded]
                )
            },
            references: references,
            coreData: coreData
        )
    }
}

extension Qualified {
    /// Returns the table as one of a Core Data store.
    fileprivate func with(_ coreData: CoreDataTable) -> Qualified {
        var identity = identity
        if coreData.counter == nil, case .key(let places) = identity {
            identity = .key(coreData.identity(places))
        }
        return Qualified(
            schema: schema,
            identity: identity,
            local: local.union(coreData.local),
            coreData: coreData
        )
    }
}

extension Qualified.Verdict {
    /// Judges a table by itself.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - rules: the rules of the group's map.
    ///   - store: the description of the store, if it belongs to Core Data.
    ///   - sharesKey: whether the numbers of its rows can only be the same on all devices.
    init(
        of table: TableSchema,
        _ rules: SchemaRules,
        _ store: CoreDataStore?,
        sharesKey: Bool = false
    ) {
        let name = table.name.foldedIdentifier
        switch table.kind {
        case .virtual: self = .leftOut(.virtual)
        case .shadow: self = .leftOut(.shadow)
        case .view: self = .leftOut(.view)
        case .table where rules.exclude.contains(name): self = .leftOut(.excluded)
        case .table where LeftOut.migrationTables.contains(name.text) && rules.tables[name] == nil:
            self = .leftOut(.migrations)
        case .table where !table.isNameable: self = .leftOut(.name)
        case .table where !table.isWithoutRowID && table.rowIDName == nil:
            self = .leftOut(.noRowID)
        case .table:
            let coreData = store?.table(table)
            if coreData == nil, store?.owns(table) == true {
                self = .leftOut(.coreData)
                return
            }
            var rule = rules.tables[name] ?? SchemaRules.Table()
            if sharesKey { rule.sharesKey = true }
            self.init(ofReal: table, rule)
            if let coreData, case .syncs(let found) = self { self = .syncs(found.with(coreData)) }
        }
    }

    private init(ofReal table: TableSchema, _ rule: SchemaRules.Table) {
        // Leaving out a key would leave rows without an identity.
        let local = Set(rule.local.compactMap { table.column($0.text) }).subtracting(
            table.primaryKey
        )
        if let column = local.sorted().map({ table.columns[$0] }).first(where: \.needsValue) {
            self = .refused(.localWithoutDefault(table: table.name, column: column.name))
            return
        }
        let identity: SyncTable.Identity
        if let columns = rule.identity {
            var places: [Int] = []
            for column in columns {
                guard let place = table.column(column.text), place != table.rowIDAlias,
                    !table.columns[place].isGenerated, !local.contains(place)
                else {
                    self = .refused(.identity(table: table.name, column: column.text))
                    return
                }
                places.append(place)
            }
            identity = .named(places)
        } else if let alias = table.rowIDAlias {
            // A number that is a reference equals the parent's number, so the parent identifies the row.
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

extension ColumnSchema {
    /// Whether a row cannot be inserted without a value of it.
    fileprivate var needsValue: Bool {
        isNotNull && !isGenerated && defaultValue == .constant(.null)
    }
}

extension TableSchema {
    /// Whether its name, and those of its key's columns, can be in change files.
    fileprivate var isNameable: Bool {
        TableName(name) != nil
            && (rowIDAlias != nil || primaryKey.allSatisfy { ColumnName(columns[$0].name) != nil })
    }
}
