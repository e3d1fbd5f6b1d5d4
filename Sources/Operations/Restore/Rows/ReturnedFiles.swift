internal import Archives
internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

/// The files of external data that are put in place before the rows that refer to them.
struct ReturnedFiles {
    /// The paths below the stores directory; none of them exists there.
    let paths: [RelativePath]
    private let directory: FilePath
    private let context: OperationContext

    init(_ paths: [RelativePath], in directory: FilePath, _ context: OperationContext) {
        (self.paths, self.directory, self.context) = (paths, directory, context)
    }

    /// Puts the files in place, and removes them again if `body` fails.
    ///
    /// A file gets its name only when all of it is on the disk, with its own attributes. So do the directories that it
    /// needs.
    ///
    /// - Parameters:
    ///   - opened: the backup, within its `look`.
    ///   - rules: the rules for owners and modes.
    ///   - body: restores the rows.
    /// - Returns: the result of `body`.
    /// - Throws: errors of `body`; errors reading the backup; `FileError`.
    func bring<Result>(
        from opened: OpenedBackup,
        by rules: AttributeRules,
        _ body: () throws -> Result
    ) throws -> Result {
        guard !paths.isEmpty else { return try body() }
        let fileSystem = LocalFileSystem()
        var made: [FilePath] = []
        do {
            let missing = try missingDirectories()
            let (wanted, above) = (Set(paths), Set(missing))
            let items = try opened.items { wanted.contains($0) || above.contains($0) }
            let scratch = try extracted(items.filter { $0.attributes.kind == .file }, by: rules)
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
                    // Another process has written the file since; equal names mean equal content.
                }
            }
            try finish(missing, items, by: rules)
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

    /// Returns the directories to create, the outermost first.
    private func missingDirectories() throws -> [RelativePath] {
        let parents = paths.flatMap { sequence(first: $0, next: \.parent).dropFirst() }
        return try Set(parents).sorted()
            .filter { try FileInfo.ifPresent($0.below(directory)) == nil }
    }

    /// Extracts the files, with their attributes, into a directory on the same volume.
    private func extracted(
        _ items: [ArchiveItem],
        by rules: AttributeRules
    ) throws -> ScratchDirectory {
        // It is below the stores directory, because a rename cannot cross volumes; the next run removes a killed run's.
        let scratch = try ScratchDirectory(in: directory)
        try context.extract(items, into: scratch.path, at: directory, syncing: .each, by: rules)
        return scratch
    }

    /// Gives new directories their saved attributes, the innermost first, and flushes all directories above the files.
    private func finish(
        _ made: [RelativePath],
        _ items: [ArchiveItem],
        by rules: AttributeRules
    ) throws {
        var rules = rules
        let attributes = Dictionary(
            items.filter { $0.attributes.kind == .directory }
                .map { ($0.attributes.path, $0.attributes) }
        ) { first, _ in first }
        for path in made.reversed() {
            let opened = try Directory.open(path.below(directory))
            if var attributes = attributes[path] {
                try rules.apply(to: &attributes)
                if let owner = attributes.owner {
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
