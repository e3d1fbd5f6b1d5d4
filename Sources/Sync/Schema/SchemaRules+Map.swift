internal import Changes

extension SchemaRules {
    /// Takes what a group's map says.
    init(_ map: SyncMap) {
        self.init()
        for (name, table) in map.tables {
            var rules = Table()
            rules.identity = table.identity?.compactMap(\.schemaName)
            rules.sharesKey = table.sharesKey
            rules.was = table.was?.description
            for (column, was) in table.renamed {
                guard let column = column.schemaName, let was = was.schemaName else { continue }
                rules.renamed[column] = was
            }
            for (column, reference) in table.references {
                guard let column = column.schemaName else { continue }
                switch reference {
                case .none: rules.references[column] = SchemaRules.Reference.none
                case .table(let parent): rules.references[column] = .table(parent.description)
                }
            }
            rules.local = Set(table.local.compactMap(\.schemaName))
            tables[name.description] = rules
        }
        exclude = Set(map.exclude.map(\.description))
        for (name, rule) in map.triggers {
            triggers[name.description] = rule == .run ? .run : .skip
        }
    }
}
