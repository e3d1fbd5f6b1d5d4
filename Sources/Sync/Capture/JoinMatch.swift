internal import Changes
internal import Stores

/// The way in which the rows of a store that joins a group are found among the group's, besides by their
/// ids.
public enum JoinMatch: String, CaseIterable, Sendable {
    /// By equal content as it is now, also where rows have keys: both stay, and one is shown.
    case content
    /// By the number that the row had elsewhere: the store was a copy of another device's.
    case copy
    /// By keys alone: rows without are new ones.
    case key
    /// By equal content where rows have no keys: this device took part before, and what it knew is gone.
    case again

    /// Those that a person may choose.
    public static let allCases: [JoinMatch] = [.content, .copy, .key]
}

/// The rows of the group that those of a table may be, each for one of them.
struct JoinMatching {
    private var byContent: [[Value]: [RowID]] = [:]
    private var byNumber: [Int64: [RowID]] = [:]

    /// Collects the rows of a table that are alive and that no row here is by its id.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - columns: those of which the content consists.
    ///   - known: rows that are found by their ids.
    ///   - access: the sidecar.
    /// - Throws: `SidecarError`.
    init(
        _ table: TableMapping,
        _ columns: [ColumnMapping],
        but known: Set<RowID>,
        _ access: SidecarAccess
    ) throws {
        try access.forEachKnown { row in
            guard row.table == table.name, row.state.isAlive, !known.contains(row.id),
                row.state.cell(.same) == nil
            else { return }
            byContent[columns.values(of: row.state), default: []].append(row.id)
            if case .integer(let number)? = row.delta.hint {
                byNumber[number, default: []].append(row.id)
            }
        }
    }

    /// Takes a row with such content: one that had a number elsewhere, else the first in the order of ids.
    mutating func take(_ values: [Value], number: Int64? = nil) -> RowID? {
        guard var ids = byContent[values], !ids.isEmpty else { return nil }
        let numbered = number.flatMap { byNumber[$0] } ?? []
        let id = ids.remove(at: ids.firstIndex(where: numbered.contains) ?? 0)
        byContent[values] = ids
        return id
    }

    /// Takes the row that had a number elsewhere, if just one had.
    mutating func take(_ number: Int64) -> RowID? {
        guard let ids = byNumber.removeValue(forKey: number), ids.count == 1 else { return nil }
        return ids[0]
    }
}

extension TableCapture {
    /// Finds the new rows of a store that joins among the group's, as a person said.
    func match(_ capture: inout Capture) throws {
        guard let mode = capture.options.match, kind == .seed else { return }
        if let places = table.identifyingPlaces {
            if mode == .content { try standBehind(places, &capture) }
            return
        }
        if mode == .key {
            for index in news.indices { news[index].id = capture.makeID() }
            return
        }
        let known = Set(try news.map(\.id).filter { try capture.access.known($0) != nil })
        var matching = try JoinMatching(table, table.columns, but: known, capture.access)
        for index in news.indices where !known.contains(news[index].id) {
            var number: Int64?
            if case .rowID(let rowID) = news[index].key { number = rowID }
            let found =
                if mode == .copy {
                    number.flatMap { matching.take($0) }
                } else {
                    matching.take(
                        try content(of: news[index], table.columns, capture),
                        number: number
                    )
                }
            if let found { news[index].id = found }
        }
    }

    /// Lets rows whose keys nobody has stand behind rows with the same content and other keys.
    private func standBehind(_ places: [Int], _ capture: inout Capture) throws {
        let columns = table.columns.filter { !places.contains($0.place) }
        guard !columns.isEmpty else { return }
        let known = Set(try news.map(\.id).filter { try capture.access.known($0) != nil })
        var matching = try JoinMatching(table, columns, but: known, capture.access)
        for row in news where !known.contains(row.id) {
            let values = try content(of: row, columns, capture)
            // Rows that say nothing are not alike for that.
            guard values.contains(where: { $0 != .null }), let id = matching.take(values) else {
                continue
            }
            capture.standIns[row.id] = id
        }
    }

    private func content(
        of row: New,
        _ columns: [ColumnMapping],
        _ capture: Capture
    ) throws -> [Value] {
        try columns.map { column in
            let value = try capture.wire(row.values[column.index], of: column).named
            // A parent may stand behind another one by now.
            guard case .row(let id) = value, let standIn = capture.standIns[id] else {
                return value
            }
            return .row(standIn)
        }
    }
}

extension [ColumnMapping] {
    /// The values that a state has for them.
    func values(of state: RowState) -> [Value] {
        map { column in
            state.cell(column.name)?.value
                ?? (column.parent == nil ? (column.defaultValue ?? .null).wire : .null)
        }
    }
}
