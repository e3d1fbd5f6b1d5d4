internal import CSQLite

/// The memory that SQLite uses for stores.
public enum StoreMemory {
    /// Makes each connection take as little memory as possible, since a cut holds thousands open.
    ///
    /// Call it before SQLite is used.
    public static func keepLittle() { _ = csqlite_cache_single_pages() }
}

extension StoreSnapshot {
    /// Releases the store's pages that SQLite has read and need not keep.
    public func releaseMemory() {
        if let handle = try? connection.handle() { sqlite3_db_release_memory(handle) }
    }
}
