internal import Files
package import Stores

/// How many rows a store has.
public struct StoreRows: Codable, Sendable, Equatable {
    /// The store's path, printable.
    public var path: String
    /// In all its tables; `nil` if they could not be counted.
    public var rows: Int64?

    /// Counts a store's rows; SQLite's own tables are left out, since its statistics come and go.
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
