internal import CSQLite

/// Collations that only the application has, without which SQLite may not even read a table.
///
/// Bytes are compared in their place. Rows are read in the order of their rowids or of their bytes, so that no
/// answer depends on it; nothing is written on such a connection.
enum AbsentCollations {
    /// Has SQLite ask for what it misses (https://www.sqlite.org/c3ref/collation_needed.html).
    static func standIn(in database: OpaquePointer) {
        sqlite3_collation_needed(database, nil) { _, database, _, name in
            let compare:
                @convention(c) (
                    UnsafeMutableRawPointer?, CInt, UnsafeRawPointer?, CInt, UnsafeRawPointer?
                ) -> CInt = { _, count, bytes, otherCount, other in
                    let left = UnsafeRawBufferPointer(start: bytes, count: Int(count))
                    let right = UnsafeRawBufferPointer(start: other, count: Int(otherCount))
                    return CInt(left.compare(with: right).signum())
                }
            sqlite3_create_collation_v2(database, name, SQLITE_UTF8, nil, compare, nil)
        }
    }
}
