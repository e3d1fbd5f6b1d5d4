internal import Files
internal import GRDB
internal import Stores
internal import SystemPackage

/// The identity of a store's file, and its counters of changes, which show whether an older file replaced it.
struct StoreVersion {
    var place: StorePlace
    /// The header's change counter (https://www.sqlite.org/fileformat2.html, 1.3.8).
    var counter: Int64
    /// The header's schema cookie, which only rises (https://www.sqlite.org/fileformat2.html, 1.3.9).
    var cookie: Int64
    /// The time of the last write to the store, or to a log that is not empty, in nanoseconds since 1970.
    var modified: Int64
    /// The time of the last change of the store's inode, in nanoseconds since 1970.
    var changed: Int64

    init(of store: Store, _ snapshot: StoreSnapshot) throws {
        place = try StorePlace(of: store)
        (counter, cookie) = try snapshot.counters()
        let info = try FileInfo(of: store.location)
        let log = try FileInfo.ifPresent(FilePath("\(store.location)-wal"))
        // Opening the store may create an empty log.
        modified = max(info.modified, log.flatMap { $0.size > 0 ? $0.modified : nil } ?? 0)
        changed = info.changed
    }

    /// Returns whether the store may be another file than at the last look.
    func isSuspect(_ access: SidecarAccess) throws -> Bool {
        if try access.integer("replaced") != nil { return true }
        if let was = try access.storePlace, !place.isSame(as: was) { return true }
        if let was = try access.integer("cookie"), cookie < was { return true }
        if let was = try access.integer("modified"), let wasChanged = try access.integer("changed")
        {
            // A copy over the same file may keep the original's times, so that only the inode's time is newer. After
            // a clock was set back, both times are older.
            if modified < was, changed > wasChanged { return true }
        }
        guard let was = try access.integer("counter") else { return false }
        // The counter may wrap.
        return counter < was && was - counter < 1 << 31
    }

    /// Records it as the version of the store that takes part.
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
