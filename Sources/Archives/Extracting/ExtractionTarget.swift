internal import Files

/// The directory that an archive is restored into.
///
/// It keeps the directories on the way to the newest entry open, so that a deep tree is not walked
/// from its root for each.
final class ExtractionTarget {
    private let root: Directory
    private let syncing: Bool
    /// The open directories below the root, outermost first, with their names.
    private var open: [(name: FileName, directory: Directory)] = []
    private var directories: [ArchiveExtractor.Item] = []
    /// Directories that no entry is for; kept only where they are to be flushed.
    private var implied: [Directory] = []

    init(_ root: Directory, syncing: Bool) {
        self.root = root
        self.syncing = syncing
    }

    /// The open directory that a path goes to; made where it is missing.
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

    func makeDirectory(_ item: ArchiveExtractor.Item) throws {
        _ = try enter(item.attributes.path.name, of: parent(of: item.attributes.path))
        directories.append(item)
    }

    func makeLink(_ item: ArchiveExtractor.Item, to target: [UInt8]) throws {
        let name = item.attributes.path.name
        let directory = try parent(of: item.attributes.path)
        try directory.createLink(name, target: target)
        if let owner = item.attributes.owner {
            try directory.setOwner(of: name, owner: owner.user, group: owner.group)
        }
        try directory.setAttributes(
            of: name,
            isLink: true,
            mode: 0,
            modified: item.attributes.modified
        )
    }

    /// Children before parents: a directory may be made unwritable only once it is full.
    func finishDirectories() throws {
        for directory in implied { try directory.sync() }
        for item in directories.sorted(by: { $1.attributes.path < $0.attributes.path }) {
            let name = item.attributes.path.name
            let directory = try parent(of: item.attributes.path).directory(name)
            if let owner = item.attributes.owner {
                try directory.setOwner(owner.user, group: owner.group)
            }
            try directory.setAttributes(
                mode: item.attributes.mode,
                modified: item.attributes.modified
            )
            if syncing { try directory.sync() }
        }
        open = []
        if syncing { try root.sync() }
    }
}
