internal import Changes
internal import Stores

/// The rows of the group that can be matched with rows of a table, each at most once.
struct JoinMatching {
    private var byContent: [[Value]: [RowID]] = [:]
    private var byNumber: [Int64: [(id: RowID, values: [Value])]] = [:]
    private let columns: [ColumnMapping]

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
        self.columns = columns
        try access.states.forEachAlive(in: table.name) { row in
            guard !known.contains(row.id), row.state.cell(.same) == nil else { return }
            let values = columns.values(of: row.state)
            byContent[values, default: []].append(row.id)
            if case .integer(let number)? = row.delta.hint {
                byNumber[number, default: []].append((row.id, values))
            }
        }
    }

    /// Removes and returns a row with this content: one that had the number elsewhere, else the one with the least
    /// id.
    mutating func take(_ values: [Value], number: Int64? = nil) -> RowID? {
        guard var ids = byContent[values], !ids.isEmpty else { return nil }
        let numbered = number.flatMap { byNumber[$0] } ?? []
        let place = ids.firstIndex { id in numbered.contains { $0.id == id } }
        let id = ids.remove(at: place ?? 0)
        byContent[values] = ids
        return id
    }

    /// Returns what the row that had a number elsewhere has alike with values; `nil` unless there is just one.
    func likeness(at number: Int64, with values: [Value]) -> Likeness? {
        guard let rows = byNumber[number], rows.count == 1 else { return nil }
        var likeness = Likeness()
        for (column, (one, other)) in zip(columns, zip(rows[0].values, values))
        where !column.isBlank(one) || !column.isBlank(other) {
            likeness.count(isEqual: one == other, isText: one.isText || other.isText)
        }
        return likeness
    }

    /// Removes and returns the row that had a number elsewhere, if there is just one.
    mutating func take(_ number: Int64) -> RowID? {
        byNumber.removeValue(forKey: number)?.first?.id
    }
}

extension ColumnMapping {
    /// Returns whether a value has no content: it is NULL, the default, or an empty text or blob.
    fileprivate func isBlank(_ value: Value) -> Bool {
        value == missingValue || value.stored.map { isBlank(RowImage.Part($0)) } ?? false
    }
}
