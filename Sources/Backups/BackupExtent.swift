internal import Files
package import Stores

/// The amount of data in the stores of a backup, to compare backups over time without opening any.
///
/// The catalog keeps it as one text, which is only read when it is needed: most lists never do.
package struct BackupExtent: Sendable, Equatable {
    /// A table and its number of rows.
    package struct Table: Sendable, Equatable {
        /// The store's path, printable.
        package var store: String
        /// The table's name, printable.
        package var name: String
        package var rows: Int64
    }

    /// The maximum number of tables, the largest ones.
    private static let tablesLimit = 8
    /// The maximum length in bytes of the names of a store and of a table; one with longer names is left out.
    private static let nameLimit = 200

    /// A line with the number of bytes, then one for each store: its path, and its tables with their rows.
    ///
    /// Printable names contain neither the separators of fields nor those of lines.
    let text: String

    init(text: String) { self.text = text }

    /// Creates the extent of some stores.
    package init(of stores: [StoreFacts]) {
        let bytes = stores.reduce(Int64(0)) { sum, store in
            let (size, isTooMuch) = store.pageCount.multipliedReportingOverflow(
                by: Int64(store.pageSize)
            )
            return sum.addingSaturated(isTooMuch ? .max : max(0, size))
        }
        let largest = stores.flatMap(Self.tables).sorted {
            ($1.rows, $0.store.exact, $0.name.exact) < ($0.rows, $1.store.exact, $1.name.exact)
        }.prefix(Self.tablesLimit)
        var lines = ["\(bytes)"]
        for store in Set(largest.map(\.store.exact)).sorted().map(\.text) {
            let tables = largest.filter { $0.store.exact == store.exact }
            lines.append(
                ([store] + tables.flatMap { [$0.name, "\($0.rows)"] }).joined(separator: "\t")
            )
        }
        text = lines.joined(separator: "\n")
    }

    /// Returns the countable tables of a store, without SQLite's own.
    private static func tables(of store: StoreFacts) -> [Table] {
        let path = printable(bytes: store.path.utf8)
        return store.tables.compactMap { table in
            let name = printable(bytes: table.name.utf8)
            guard let rows = table.rows, !name.hasPrefix("sqlite_"),
                path.utf8.count + name.utf8.count <= nameLimit
            else { return nil }
            return Table(store: path, name: name, rows: rows)
        }
    }

    /// The size of all stores in bytes.
    package var bytes: Int64 {
        let end = text.firstIndex(of: "\n") ?? text.endIndex
        return Int64(text[..<end]) ?? 0
    }

    /// The largest tables.
    package var tables: [Table] {
        text.utf8.split(separator: UInt8(ascii: "\n")).dropFirst().flatMap { line in
            let fields = line.split(
                separator: UInt8(ascii: "\t"),
                omittingEmptySubsequences: false
            ).compactMap { String($0) }
            return stride(from: 1, to: fields.count - 1, by: 2).compactMap { index in
                Int64(fields[index + 1]).map {
                    Table(store: fields[0], name: fields[index], rows: $0)
                }
            }
        }
    }
}
