internal import Files
public import Stores

extension StoreFacts {
    /// The store with the sum of its tables in place of them.
    var summed: StoreFacts {
        guard var sum = tables.first else { return self }
        var store = self
        sum.name = "(\(counted(tables.count, "table", "tables")))"
        sum.rows = StoreRows(self).rows
        store.tables = [sum]
        return store
    }
}

extension StoreFacts {
    /// The tables that rows are compared of; `nil` if only their sum was recorded.
    ///
    /// An empty table is as one that is gone. A table that SQLite's modules or Core Data tidy up by themselves is none.
    fileprivate var comparedTables: [Table]? {
        if tables.count == 1, tables[0].name.hasPrefix("("), tables[0].name.hasSuffix(")") {
            return nil
        }
        let names = Set(tables.map(\.name.exact))
        return tables.filter { $0.rows != 0 && !isTidied($0.name, among: names) }
    }

    private func isTidied(_ name: String, among names: Set<ExactString>) -> Bool {
        if name.hasPrefix("sqlite_") { return true }
        // The history that Core Data deletes after some days, and what CloudKit notes beside the data.
        if kind == .coreData, name.hasPrefix("ANSCK") || Self.historyTables.contains(name) {
            return true
        }
        return Self.indexTables.contains { suffix, other in
            name.hasSuffix(suffix)
                && names.contains("\(name.dropLast(suffix.count))\(other)".exact)
        }
    }

    private static let historyTables = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
    /// The endings of tables in pairs, which FTS5, FTS3 and R-trees merge, so that they may lose rows without a loss.
    private static let indexTables = [
        ("_data", "_idx"), ("_idx", "_data"), ("_segments", "_segdir"), ("_segdir", "_segments"),
        ("_node", "_parent"), ("_parent", "_node"),
    ]
}

/// The number of rows of a store.
public struct StoreRows: Codable, Sendable, Equatable {
    /// The store's path, printable.
    public var path: String
    /// The number of rows in all tables; `nil` if they could not be counted.
    public var rows: Int64?
    /// The tables with rows; `nil` if they are not known.
    public var tables: [StoreFacts.Table]?

    /// Counts a store's rows, without SQLite's own tables, since their statistics come and go.
    package init(_ store: StoreFacts) {
        path = store.path
        tables = store.comparedTables
        rows = store.tables.filter { !$0.name.hasPrefix("sqlite_") }
            .reduce(Int64(0) as Int64?) { sum, table in
                guard let sum, let rows = table.rows else { return nil }
                return sum.addingSaturated(rows)
            }
    }

    package init(path: String, rows: Int64?, tables: [StoreFacts.Table]? = nil) {
        self.path = path
        self.rows = rows
        self.tables = tables
    }

    /// The same without its tables.
    var summed: StoreRows { StoreRows(path: path, rows: rows) }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        path = try values.decode(String.self, forKey: .path)
        rows = try values.decodeRows(forKey: .rows)
        tables = try values.decodeIfPresent([StoreFacts.Table].self, forKey: .tables)
    }
}
