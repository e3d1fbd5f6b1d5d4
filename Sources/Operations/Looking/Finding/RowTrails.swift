internal import Backups
internal import Files
internal import Stores

/// The histories of all rows found, built up state by state.
final class RowTrails {
    private let rows: [FoundRow]
    private var trails: [RowTrail]
    /// The indices of each store's rows.
    private let places: [ExactString: [Int]]
    /// The mark of each store in the previous state.
    private var marks: [ExactString: StoreMark] = [:]

    init(of rows: [FoundRow]) {
        self.rows = rows.sorted { left, right in
            let (store, other) = (left.store.exact, right.store.exact)
            if store != other { return store < other }
            let (table, its) = (left.table.name.exact, right.table.name.exact)
            if table != its { return table < its }
            return left.key < right.key
        }
        trails = rows.map { _ in RowTrail() }
        places = Dictionary(grouping: self.rows.indices) { [rows = self.rows] in
            rows[$0].store.exact
        }
    }

    /// The paths of the stores that contain these rows.
    var stores: [String] { places.keys.sorted().map(\.text) }

    /// Records what is known of a store in the next state.
    ///
    /// - Returns: whether the store must be read.
    @discardableResult
    func take(_ mark: StoreMark?, of store: String, at place: RowHistory.Place) -> Bool {
        let before = marks[store.exact]
        marks[store.exact] = nil
        switch mark {
        case nil: take(.absent, of: store, at: place)
        case .unknown(let reason): take(.unknown(reason), of: store, at: place)
        case let mark?:
            marks[store.exact] = mark
            guard mark == before else { return true }
            for index in places[store.exact] ?? [] { trails[index].takeSame(at: place) }
        }
        return false
    }

    private func take(_ sight: RowTrail.Sight, of store: String, at place: RowHistory.Place) {
        for index in places[store.exact] ?? [] { trails[index].take(sight, at: place) }
    }

    /// Reads the rows of a store in the next state.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - path: its path.
    ///   - place: the state.
    ///   - failed: called with the error if a row cannot be read; returns the reason as text.
    /// - Throws: `StoreError` if even the schema cannot be read.
    func read(
        _ store: ReadableStore,
        _ path: String,
        at place: RowHistory.Place,
        failed: (any Error) throws -> String
    ) throws {
        let schema = try store.reading { try store.schema() }
        let isUTF8 = schema.encoding == "UTF-8"
        for index in places[path.exact] ?? [] {
            let row = rows[index]
            var sight = RowTrail.Sight.absent
            if let table = schema.table(row.table.name), [.table, .shadow].contains(table.kind) {
                let identity = TableIdentity(
                    of: table,
                    and: row.table,
                    isUTF8: isUTF8 && row.isUTF8
                )
                do {
                    if identity == row.identity {
                        let found = try store.row(at: row.key, of: table, by: identity)
                        sight = found.map { .there($0) } ?? .absent
                    } else {
                        sight = .unknown("its table has another key there")
                    }
                } catch {
                    sight = .unknown(try failed(error))
                }
            }
            trails[index].take(sight, at: place)
        }
    }

    /// Returns the histories of all rows that at least one state contains.
    func histories() -> [RowHistory] {
        zip(rows, trails).compactMap { row, trail in
            guard let first = trail.first, let last = trail.last, let newest = trail.newest,
                let kept = trail.row
            else { return nil }
            return RowHistory(
                store: row.store,
                table: row.table.name,
                entity: row.entity,
                key: kept.key,
                properties: row.properties,
                events: trail.events,
                first: first,
                last: last,
                beforeChange: trail.beforeChange,
                end: trail.end,
                newest: newest,
                life: trail.life,
                condition: kept.condition(in: row.table, by: row.identity)
            )
        }
    }
}

extension KeptRow {
    /// The greatest length in bytes of a condition.
    private static let longestCondition = 1000

    /// Returns a condition that only this row of a table meets; `nil` if it would be too long.
    fileprivate func condition(in table: TableSchema, by identity: TableIdentity) -> String? {
        let isByRowID = identity == .rowID && table.rowIDAlias == nil
        let terms = key.map { column, value -> String? in
            guard case .stored(let stored) = value else { return nil }
            let name = isByRowID ? table.rowIDName ?? column : Self.bracketed(column)
            return stored == .null ? "\(name) IS NULL" : "\(name) = \(stored.sqlLiteral)"
        }
        guard !terms.isEmpty, !terms.contains(nil) else { return nil }
        let text = terms.compactMap(\.self).joined(separator: " AND ")
        return text.utf8.count <= Self.longestCondition ? text : nil
    }

    /// Returns a name in SQL that a shell leaves alone, if possible.
    private static func bracketed(_ name: String) -> String {
        name.contains("]") ? name.sqlIdentifier : "[\(name)]"
    }
}
