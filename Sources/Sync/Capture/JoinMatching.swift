internal import Changes
internal import Stores

/// The rows of the group that can be matched with rows of a table, each at most once.
struct JoinMatching {
    private var byContent: [[Value]: [RowID]] = [:]
    private var byNumber: [Int64: [RowID]] = [:]

    /// Collects the rows of a table that are alive, and whose ids no row of the store has.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - columns: the columns of the content.
    ///   - known: the rows that were found by their ids.
    ///   - access: the sidecar.
    /// - Throws: `SidecarError`.
    init(
        _ table: TableMapping,
        _ columns: [ColumnMapping],
        but known: Set<RowID>,
        _ access: SidecarAccess
    ) throws {
        try access.states.forEachAlive(in: table.name) { row in
            guard !known.contains(row.id), row.state.cell(.same) == nil else { return }
            byContent[columns.values(of: row.state), default: []].append(row.id)
            if case .integer(let number)? = row.delta.hint {
                byNumber[number, default: []].append(row.id)
            }
        }
    }

    /// Removes and returns a row with this content: one that had the number elsewhere, else the one with the least
    /// id.
    mutating func take(_ values: [Value], number: Int64? = nil) -> RowID? {
        guard var ids = byContent[values], !ids.isEmpty else { return nil }
        let numbered = number.flatMap { byNumber[$0] } ?? []
        let id = ids.remove(at: ids.firstIndex(where: numbered.contains) ?? 0)
        byContent[values] = ids
        return id
    }

    /// Removes and returns the row that had a number elsewhere, if there is exactly one.
    mutating func take(_ number: Int64) -> RowID? {
        guard let ids = byNumber.removeValue(forKey: number), ids.count == 1 else { return nil }
        return ids[0]
    }
}
