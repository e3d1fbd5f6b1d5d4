internal import Changes
internal import Files

extension SchemaRules {
    /// Takes the rules of a group's map.
    init(_ map: SyncMap) {
        self.init()
        for (name, table) in map.tables {
            var rules = Table()
            rules.identity = table.identity?.compactMap(\.schemaName?.exact)
            rules.sharesKey = table.sharesKey
            rules.was = table.was?.description
            for (column, was) in table.renamed {
                guard let column = column.schemaName?.exact, let was = was.schemaName else {
                    continue
                }
                rules.renamed[column] = was
            }
            for (column, reference) in table.references {
                guard let column = column.schemaName?.exact else { continue }
                switch reference {
                case .none: rules.references[column] = SchemaRules.Reference.none
                case .table(let parent): rules.references[column] = .table(parent.description.exact)
                }
            }
            rules.local = Set(table.local.compactMap(\.schemaName?.exact))
            tables[name.description.exact] = rules
        }
        for (name, columns) in map.files {
            for (column, directory) in columns {
                guard let column = column.schemaName?.exact else { continue }
                tables[name.description.exact, default: Table()].files[column] = directory
            }
        }
        exclude = Set(map.exclude.map(\.description.exact))
        for (name, rule) in map.triggers {
            triggers[name.description.exact] = rule == .run ? .run : .skip
        }
    }
}
