internal import Files

/// The directory that an archive is restored into.
///
/// The directories on the path to the newest entry stay open, so that a deep tree is not walked from its root for each
/// entry.
final class ExtractionTarget {
    private let root: Directory
    private let syncing: Bool
    /// The open directories below the root, outermost first, with their names.
    private var open: [(name: FileName, directory: Directory)] = []
    private var directories: [EntryAttributes] = []
    /// The directories without an entry; kept only if they have to be synced.
    private var implied: [Directory] = []

    init(_ root: Directory, syncing: Bool) {
        self.root = root
        self.syncing = syncing
    }

    /// Returns the open directory that holds a path; creates it if it is missing.
    func parent(of path: RelativePath) throws -> Directory {
        let names = path.parent?.components ?? []
        let shared = zip(names, open).prefix { $0 == $1.name }.count
        open.removeSubrange(shared...)
        for name in names.dropFirst(shared) {
            open.append((name, try enter(name, of: open.last?.directory ?? root)))
        }
        return open.last?.directory ?? root
    }

    private func enter(_ name: FileName, of directory: Directory) throws -> Directory {
        do {
            return try directory.directory(name)
        } catch let error as FileError where error.isMissing && !directory.contains(name) {
            try directory.createDirectory(name)
            let made = try directory.directory(name)
            if syncing { implied.append(made) }
            return made
        }
    }

    func makeDirectory(_ item: ArchiveItem) throws {
        _ = try enter(item.attributes.path.name, of: parent(of: item.attributes.path))
        directories.append(item.attributes)
    }

    func makeLink(_ item: ArchiveItem, to target: [UInt8]) throws {
        let name = item.attributes.path.name
        let directory = try parent(of: item.attributes.path)
        try directory.createLink(name, target: target)
        if let owner = item.attributes.owner {
            try directory.setOwner(of: name, owner: owner.user, group: owner.group)
        }
        let modified = item.attributes.modified
        try directory.setAttributes(of: name, isLink: true, mode: 0, modified: modified)
    }

    /// Sets the attributes of directories, children before parents, since a directory may become unwritable only after
    /// it is full.
    func finishDirectories() throws {
        for directory in implied { try directory.sync() }
        for attributes in directories.sorted(by: { $1.path < $0.path }) {
            let directory = try parent(of: attributes.path).directory(attributes.path.name)
            if let owner = attributes.owner {
                try directory.setOwner(owner.user, group: owner.group)
            }
            try directory.setAttributes(mode: attributes.mode, modified: attributes.modified)
            if syncing { try directory.sync() }
        }
        open = []
        if syncing { try root.sync() }
    }
}
