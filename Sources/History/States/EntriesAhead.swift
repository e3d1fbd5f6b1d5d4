/// The entries of consecutive paths, which are likely to be requested next.
struct EntriesAhead {
    typealias Found = (id: Int64, entry: BackupState.Entry)

    /// The number of entries that are read at once.
    static let limit = 128

    private var first: [UInt8] = []
    /// The last path that is covered; `nil` if none is.
    private var last: [UInt8]?
    private var entries: [[UInt8]: Found] = [:]

    /// Covers no path.
    init() {}

    /// Covers one path, and all paths up to each added entry.
    init(from path: [UInt8]) { (first, last) = (path, path) }

    /// Adds the next entry.
    mutating func add(_ found: Found, at path: [UInt8]) {
        entries[path] = found
        last = path
    }

    /// Updates an entry that was written.
    mutating func replace(_ found: Found, at path: [UInt8]) {
        if knows(path) { entries[path] = found }
    }

    /// Returns the entry at a covered path, if there is one.
    func entry(_ path: [UInt8]) -> Found? { entries[path] }

    /// Returns whether a path is covered.
    func knows(_ path: [UInt8]) -> Bool {
        guard let last else { return false }
        return !path.lexicographicallyPrecedes(first) && !last.lexicographicallyPrecedes(path)
    }
}
