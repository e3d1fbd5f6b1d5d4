internal import Files
package import Stores

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

/// The number of rows of a store.
public struct StoreRows: Codable, Sendable, Equatable {
    /// The store's path, printable.
    public var path: String
    /// The number of rows in all tables; `nil` if they could not be counted.
    public var rows: Int64?

    /// Counts a store's rows, without SQLite's own tables, since their statistics come and go.
    package init(_ store: StoreFacts) {
        path = store.path
        rows = store.tables.filter { !$0.name.hasPrefix("sqlite_") }
            .reduce(Int64(0) as Int64?) { sum, table in
                guard let sum, let rows = table.rows else { return nil }
                return sum.addingSaturated(rows)
            }
    }

    package init(path: String, rows: Int64?) {
        self.path = path
        self.rows = rows
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        path = try values.decode(String.self, forKey: .path)
        rows = try values.decodeRows(forKey: .rows)
    }
}
