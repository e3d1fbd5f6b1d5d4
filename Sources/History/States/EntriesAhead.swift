/// The entries of some paths, one behind the other: most that are asked for next are among them.
struct EntriesAhead {
    typealias Found = (id: Int64, entry: BackupState.Entry)

    /// How many entries are read at once.
    static let limit = 128

    private var first: [UInt8] = []
    /// The last path of which it is known whether it has an entry; `nil` if that is so for none.
    private var last: [UInt8]?
    private var entries: [[UInt8]: Found] = [:]

    /// Knows of no path.
    init() {}

    /// Knows of one path, and of those up to each that is added.
    init(from path: [UInt8]) { (first, last) = (path, path) }

    /// Adds the next entry.
    mutating func add(_ found: Found, at path: [UInt8]) {
        entries[path] = found
        last = path
    }

    /// Keeps up with an entry that was written.
    mutating func replace(_ found: Found, at path: [UInt8]) {
        if knows(path) { entries[path] = found }
    }

    /// Returns the entry at a path that is known to have one.
    func entry(_ path: [UInt8]) -> Found? { entries[path] }

    /// Returns whether it is known here what is at a path.
    func knows(_ path: [UInt8]) -> Bool {
        guard let last else { return false }
        return !path.lexicographicallyPrecedes(first) && !last.lexicographicallyPrecedes(path)
    }
}
