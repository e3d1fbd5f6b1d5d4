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

    /// A store and its size in bytes.
    package struct StoreSize: Sendable, Equatable {
        /// The store's path, printable.
        package var path: String
        package var bytes: Int64
    }

    /// The maximum number of tables, the largest ones, and of stores.
    private static let tablesLimit = 8
    /// The maximum length in bytes of the names of a store and of a table; one with longer names is left out.
    private static let nameLimit = 200

    /// A line with the number of bytes, then one for each store: its path, its tables with their rows, and its bytes.
    ///
    /// Earlier versions wrote no bytes of stores, and pass over them.
    ///
    /// Printable names contain neither the separators of fields nor those of lines.
    let text: String

    init(text: String) { self.text = text }

    /// Creates the extent of some stores.
    package init(of stores: [StoreFacts]) {
        let sizes = stores.map { store in
            let (size, isTooMuch) = store.pageCount.multipliedReportingOverflow(
                by: Int64(store.pageSize)
            )
            return StoreSize(
                path: printable(bytes: store.path.utf8),
                bytes: isTooMuch ? .max : max(0, size)
            )
        }
        let bytes = sizes.reduce(Int64(0)) { $0.addingSaturated($1.bytes) }
        let bytesByPath = Dictionary(sizes.map { ($0.path.exact, $0.bytes) }) { first, _ in first }
        let largest = stores.flatMap(Self.tables).sorted {
            ($1.rows, $0.store.exact, $0.name.exact) < ($0.rows, $1.store.exact, $1.name.exact)
        }.prefix(Self.tablesLimit)
        var lines = ["\(bytes)"]
        let largestStores = sizes.filter { $0.path.utf8.count <= Self.nameLimit }
            .sorted { ($1.bytes, $0.path.exact) < ($0.bytes, $1.path.exact) }
            .prefix(Self.tablesLimit)
        let paths = largest.map(\.store.exact) + largestStores.map(\.path.exact)
        for store in Set(paths).sorted() {
            let tables = largest.filter { $0.store.exact == store }
            let fields = [store.text] + tables.flatMap { [$0.name, "\($0.rows)"] }
            lines.append((fields + ["\(bytesByPath[store] ?? 0)"]).joined(separator: "\t"))
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

    /// The largest stores, the largest first; none if an earlier version wrote this.
    package var stores: [StoreSize] {
        lines.compactMap { fields in
            guard fields.count % 2 == 0, let bytes = fields.last.flatMap(Int64.init) else {
                return nil
            }
            return StoreSize(path: fields[0], bytes: bytes)
        }
        .sorted { ($1.bytes, $0.path.exact) < ($0.bytes, $1.path.exact) }
    }

    /// The fields of the line of each store.
    private var lines: [[String]] {
        text.utf8.split(separator: UInt8(ascii: "\n")).dropFirst().map { line in
            line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
                .compactMap { String($0) }
        }
    }

    /// The largest tables.
    package var tables: [Table] {
        lines.flatMap { fields in
            stride(from: 1, to: fields.count - 1, by: 2).compactMap { index in
                Int64(fields[index + 1]).map {
                    Table(store: fields[0], name: fields[index], rows: $0)
                }
            }
        }
    }
}
