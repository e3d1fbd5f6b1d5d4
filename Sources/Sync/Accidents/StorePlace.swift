internal import Files
internal import Stores

/// The identity of a store's file.
///
/// A file system may give the inode of a deleted file to the next file at once.
struct StorePlace: CustomStringConvertible {
    let inode: UInt64
    /// The time of the file's creation, in nanoseconds since 1970; `nil` if it is unknown or was not recorded.
    let birth: Int64?

    init(of store: Store) throws {
        inode = try FileInfo(of: store.location).identity.inode
        birth = try FileInfo.birth(of: store.location)
    }

    /// Reads a sidecar's record; `nil` if it is invalid.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard let inode = words.first.flatMap({ UInt64($0) }) else { return nil }
        self.inode = inode
        birth = words.dropFirst().first.flatMap { Int64($0) }
    }

    var description: String { birth.map { "\(inode) \($0)" } ?? "\(inode)" }

    /// Returns whether it may be the same file.
    ///
    /// A file that got the inode later was created later. Some systems move the creation time of a file back.
    func isSame(as earlier: StorePlace) -> Bool {
        guard inode == earlier.inode else { return false }
        guard let birth, let was = earlier.birth else { return true }
        return birth <= was
    }
}

extension SidecarAccess {
    /// The identity of the store's file at the last look.
    var storePlace: StorePlace? { get throws { try text("store").flatMap(StorePlace.init) } }
}
