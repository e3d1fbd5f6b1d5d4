internal import Changes

/// Tables in groups: those first that others refer to; tables that refer to each other are one group.
struct TableOrder {
    struct Group {
        let tables: [TableMapping]
        let isCyclic: Bool
    }

    let groups: [Group]

    init(_ tables: [TableMapping]) {
        let byName = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
        let view = tables.map { ViewSchema.Table($0.name, columns: [], references: $0.references) }
        groups = TableGroup.parentsFirst(view).map { group in
            Group(
                tables: group.tables.compactMap { byName[$0.name] },
                isCyclic: group.isCyclic
            )
        }
    }
}
