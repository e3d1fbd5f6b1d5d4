internal import Files
internal import GRDB
internal import Stores
internal import SystemPackage

/// Which file a store is, and how often it was changed: an older one was put in its place.
struct StoreVersion {
    var place: StorePlace
    /// The header's change counter (https://www.sqlite.org/fileformat2.html, 1.3.8).
    var counter: Int64
    /// The header's schema cookie, which only rises (https://www.sqlite.org/fileformat2.html, 1.3.9).
    var cookie: Int64
    /// Nanoseconds since 1970 at which the store, or a log with something in it, was written last.
    var modified: Int64
    /// Nanoseconds since 1970 at which the store's inode was changed last.
    var changed: Int64

    init(of store: Store, _ snapshot: StoreSnapshot) throws {
        place = try StorePlace(of: store)
        (counter, cookie) = try snapshot.counters()
        let info = try FileInfo(of: store.location)
        let log = try FileInfo.ifPresent(FilePath("\(store.location)-wal"))
        // Whoever opens the store may make an empty log.
        modified = max(info.modified, log.flatMap { $0.size > 0 ? $0.modified : nil } ?? 0)
        changed = info.changed
    }

    /// Whether the store may be another than the one that was looked at last.
    func isSuspect(_ access: SidecarAccess) throws -> Bool {
        if try access.integer("replaced") != nil { return true }
        if let was = try access.storePlace, !place.isSame(as: was) { return true }
        if let was = try access.integer("cookie"), cookie < was { return true }
        if let was = try access.integer("modified"), let wasChanged = try access.integer("changed")
        {
            // A copy that has the times of what was copied, over the same file; a clock that was set back has
            // both be older.
            if modified < was, changed > wasChanged { return true }
        }
        guard let was = try access.integer("counter") else { return false }
        // The counter wraps.
        return counter < was && was - counter < 1 << 31
    }

    /// Takes it for the store that takes part.
    func keep(_ access: SidecarAccess) throws {
        try access.set("store", "\(place)")
        try access.set("counter", counter)
        try access.set("cookie", cookie)
        try access.set("modified", modified)
        try access.set("changed", changed)
        try access.forget("replaced")
        try access.forget("rolled")
    }
}

extension StoreSnapshot {
    /// Returns the header's change counter and schema cookie.
    fileprivate func counters() throws -> (changes: Int64, schema: Int64) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize, alignment: 8)
        defer { buffer.deallocate() }
        guard try read(into: buffer, at: 0) >= 44 else { return (0, 0) }
        func number(at offset: Int) -> Int64 {
            let bytes = buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            return Int64(UInt32(bigEndian: bytes))
        }
        return (number(at: 24), number(at: 40))
    }
}

extension SidecarAccess {
    func forget(_ key: String) throws { try run("DELETE FROM meta WHERE k = ?", [key]) }
}
