internal import Archives
internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

/// Files of external data that are put in place before the rows that refer to them.
struct ReturnedFiles {
    /// Below the stores directory; none of them is there.
    let paths: [RelativePath]
    private let directory: FilePath
    private let context: OperationContext

    init(_ paths: [RelativePath], in directory: FilePath, _ context: OperationContext) {
        (self.paths, self.directory, self.context) = (paths, directory, context)
    }

    /// Puts the files in place, and takes them away again if `body` fails.
    ///
    /// Each takes its name when all of it is on the disk, with its own attributes, and so do the directories that
    /// it needs.
    ///
    /// - Parameters:
    ///   - opened: the backup, within its `look`.
    ///   - body: brings the rows.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws; errors of reading the backup; `FileError`.
    func bring<Result>(from opened: OpenedBackup, _ body: () throws -> Result) throws -> Result {
        guard !paths.isEmpty else { return try body() }
        let fileSystem = LocalFileSystem()
        var made: [FilePath] = []
        do {
            let missing = try missingDirectories()
            let (wanted, above) = (Set(paths), Set(missing))
            let items = try opened.items { wanted.contains($0) || above.contains($0) }
            let scratch = try extracted(items.filter { $0.attributes.kind == .file })
            for path in missing {
                try fileSystem.createDirectory(path.below(directory))
                made.append(path.below(directory))
            }
            for item in items where item.attributes.kind == .file {
                let path = item.attributes.path
                do {
                    try fileSystem.move(path.below(scratch.path), to: path.below(directory))
                    made.append(path.below(directory))
                } catch FileError.exists {
                    // Somebody has written it since: a name stands for its content.
                }
            }
            try finish(missing, items)
            return try withExtendedLifetime(scratch, body)
        } catch {
            for path in made.reversed() {
                if (try? FileInfo(of: path).kind) == .directory {
                    try? fileSystem.removeEmptyDirectory(path)
                } else {
                    try? fileSystem.remove(path)
                }
            }
            throw error
        }
    }

    /// Returns the directories that are to be made, the outermost first.
    private func missingDirectories() throws -> [RelativePath] {
        let parents = paths.flatMap { sequence(first: $0, next: \.parent).dropFirst() }
        return try Set(parents).sorted()
            .filter { try FileInfo.ifPresent($0.below(directory)) == nil }
    }

    /// Extracts the files, with their attributes, into a directory on the same volume.
    private func extracted(_ items: [ArchiveExtractor.Item]) throws -> ScratchDirectory {
        // Below the stores directory, since a rename leads no further; a killed run's goes with the next.
        let scratch = try ScratchDirectory(in: directory)
        try context.extract(items, into: scratch.path, at: directory, syncing: .each)
        return scratch
    }

    /// Gives new directories the attributes that they had, the innermost first, and flushes all that lead to
    /// the files.
    private func finish(_ made: [RelativePath], _ items: [ArchiveExtractor.Item]) throws {
        let attributes = Dictionary(
            items.filter { $0.attributes.kind == .directory }
                .map { ($0.attributes.path, $0.attributes) }
        ) { first, _ in first }
        for path in made.reversed() {
            let opened = try Directory.open(path.below(directory))
            if let attributes = attributes[path] {
                if let owner = attributes.owner, ArchivedBackup.mayGiveAway {
                    try opened.setOwner(owner.user, group: owner.group)
                }
                try opened.setAttributes(mode: attributes.mode, modified: attributes.modified)
            }
        }
        let parents = Set(paths.compactMap(\.parent)).union(made.compactMap(\.parent))
        for parent in parents { try LocalFileSystem().sync(parent.below(directory)) }
        if made.contains(where: { $0.parent == nil }) { try LocalFileSystem().sync(directory) }
    }
}
