internal import Files
internal import Stores

/// Which file a store is.
///
/// A file system may give the inode of a file that was deleted to the next one at once.
struct StorePlace: CustomStringConvertible {
    let inode: UInt64
    /// Nanoseconds since 1970; `nil` if the file system does not tell, or nobody noted it.
    let birth: Int64?

    init(of store: Store) throws {
        inode = try FileInfo(of: store.location).identity.inode
        birth = try FileInfo.birth(of: store.location)
    }

    /// Reads what a sidecar has noted; `nil` if it is nothing of this kind.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard let inode = words.first.flatMap({ UInt64($0) }) else { return nil }
        self.inode = inode
        birth = words.dropFirst().first.flatMap { Int64($0) }
    }

    var description: String { birth.map { "\(inode) \($0)" } ?? "\(inode)" }

    /// Whether it may be the same file.
    ///
    /// A file that took the inode was made later; some systems move the time of a file that stays back.
    func isSame(as earlier: StorePlace) -> Bool {
        guard inode == earlier.inode else { return false }
        guard let birth, let was = earlier.birth else { return true }
        return birth <= was
    }
}

extension SidecarAccess {
    /// Which file the store was when it was looked at last.
    var storePlace: StorePlace? { get throws { try text("store").flatMap(StorePlace.init) } }
}
