internal import Archives
internal import Files

/// The entries of a backup as a tree of directories.
///
/// A node's number depends only on the paths in the backup, not on the order in its archives. So it stays the same
/// however often the backup is opened, and whichever archives the backup consists of.
struct EntryTree {
    /// A file, a directory or a link.
    struct Node {
        var path: RelativePath
        /// The number of the directory that contains it.
        var parent: Int
        /// The entry; `nil` for the root, and for a directory without an entry in the archive.
        var item: ArchiveItem?
        /// The range of its children in `inOrder`.
        fileprivate(set) var children = 0..<0

        /// Whether it can have children.
        var isDirectory: Bool { (item?.attributes.kind ?? .directory) == .directory }
    }

    /// The number of the root.
    static let root = 0

    /// The nodes by number; the root's path has no meaning.
    let nodes: [Node]
    /// The numbers of all nodes except the root, grouped by directory and sorted by name.
    private let inOrder: [Int]

    /// Reads all entries of a backup.
    ///
    /// - Parameter forEach: calls a closure for each entry.
    /// - Throws: errors of `forEach`.
    init(_ forEach: ((ArchiveItem) throws -> Void) throws -> Void) rethrows {
        var items: [(path: RelativePath, item: ArchiveItem?)] = []
        var directories: Set<RelativePath> = []
        try forEach { item in
            guard !item.entry.isSpecial else { return }
            let path = item.attributes.path
            items.append((path, item))
            if item.attributes.kind == .directory { directories.insert(path) }
            var parent = path.parent
            while let above = parent, directories.insert(above).inserted {
                items.append((above, nil))
                parent = above.parent
            }
        }
        // If several entries have one path, prefer a directory with an entry, then any directory, then the first one.
        let ranks = items.enumerated().map { index, item in
            let isDirectory = item.item.map { $0.attributes.kind == .directory } ?? true
            return (isDirectory ? item.item == nil ? 1 : 0 : 2, index)
        }
        let sorted = items.indices.sorted {
            items[$0].path == items[$1].path
                ? ranks[$0] < ranks[$1] : items[$0].path < items[$1].path
        }
        var nodes = [Node(path: RelativePath(name: "root"), parent: Self.root, item: nil)]
        var numbers: [RelativePath: Int] = [:]
        for index in sorted {
            let (path, item) = items[index]
            if nodes.count > 1, nodes[nodes.count - 1].path == path { continue }
            // A parent directory comes first, because its path is a prefix of this path.
            let parent = path.parent.flatMap { numbers[$0] } ?? Self.root
            if directories.contains(path) { numbers[path] = nodes.count }
            nodes.append(Node(path: path, parent: parent, item: item))
        }
        inOrder = nodes.indices.dropFirst().sorted {
            // Paths rise with the numbers, and so do the names within one directory.
            (nodes[$0].parent, $0) < (nodes[$1].parent, $1)
        }
        var start = 0
        while start < inOrder.count {
            let parent = nodes[inOrder[start]].parent
            let end = inOrder[start...].firstIndex { nodes[$0].parent != parent } ?? inOrder.count
            nodes[parent].children = start..<end
            start = end
        }
        self.nodes = nodes
    }

    /// Returns the numbers of a directory's children.
    func children(of number: Int) -> ArraySlice<Int> { inOrder[nodes[number].children] }

    /// Returns the number of the child with a name; `nil` if there is none.
    func child(named name: [UInt8], of number: Int) -> Int? {
        var range = nodes[number].children
        while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
            let other = nodes[inOrder[middle]].path.name.bytes
            if other == name { return inOrder[middle] }
            range =
                other.lexicographicallyPrecedes(name)
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }
}
