internal import Changes
internal import Stores

extension SyncTable {
    /// Sorts tables so that each stands behind those that it refers to, and numbers the cycles, whose
    /// tables stand together in the order of their names.
    static func parentsFirst(_ tables: [SyncTable]) -> [SyncTable] {
        let tables = tables.sorted { $0.name.foldedIdentifier < $1.name.foldedIdentifier }
        let places = Dictionary(
            tables.indices.map { (tables[$0].name.foldedIdentifier, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let parents = tables.map { $0.references.compactMap { places[$0.parent] } }
        var sorted: [SyncTable] = []
        var cycles = 0
        for group in ReferenceGroup.parentsFirst(parents) {
            for place in group.places {
                var table = tables[place]
                table.cycle = group.isCyclic ? cycles : nil
                sorted.append(table)
            }
            if group.isCyclic { cycles += 1 }
        }
        return sorted
    }
}
