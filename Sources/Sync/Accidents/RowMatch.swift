internal import Changes
internal import Stores

/// Rows of the state that the store does not show, by their content: the way to find again what a sidecar
/// has lost sight of.
struct RowMatch {
    private var candidates: [[Value]: [KnownRow]] = [:]

    /// Collects the rows of a table that are alive and shown nowhere, but at keys that are gone.
    init(_ table: TableMapping, gone: [ShownRow], _ access: SidecarAccess) throws {
        let gone = Set(gone.map(\.id))
        try access.forEachAlive(in: table.name) { row in
            guard try gone.contains(row.id) || !access.isShown(row.id) else { return }
            candidates[table.values(of: row.state), default: []].append(row)
        }
    }

    /// Takes a row with such content: the one that was written with such a key, else the first.
    mutating func take(_ values: [Value], key: RowKey) -> RowID? {
        guard var rows = candidates[values], !rows.isEmpty else { return nil }
        var place = 0
        if case .rowID(let number) = key {
            place = rows.firstIndex { $0.delta.hint == .integer(number) } ?? 0
        }
        let row = rows.remove(at: place)
        candidates[values] = rows
        return row.id
    }
}
