internal import Files
package import Stores

/// How many rows a store has.
public struct StoreRows: Codable, Sendable, Equatable {
    /// The store's path, printable.
    public var path: String
    /// In all its tables; `nil` where they could not be counted.
    public var rows: Int64?

    /// Counts a store of a manifest.
    ///
    /// SQLite's own tables are left out: its statistics and counters come and go.
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

extension KeyedDecodingContainer {
    /// A count of rows; `nil` where there is none, and where it is negative and so counts nothing.
    ///
    /// An archive is not refused for it: nothing that is said of rows is needed to restore.
    func decodeRows(forKey key: Key) throws -> Int64? {
        try decodeIfPresent(Int64.self, forKey: key).flatMap { $0 < 0 ? nil : $0 }
    }
}
