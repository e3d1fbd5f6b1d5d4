internal import Archives
internal import Backups
public import Files
public import SystemPackage

/// Gets files out of a backup, each whole and verified, or not at all.
public struct ExtractFiles {
    /// What came out.
    public struct Outcome: Sendable {
        /// The new files and directories that were named, printable.
        public var paths: [String]
        /// Files in them, and their bytes.
        public var files: Int
        public var bytes: Int64
    }

    private let context: OperationContext
    private let fileSystem: any FileSystem

    public init(context: OperationContext, fileSystem: any FileSystem) {
        self.context = context
        self.fileSystem = fileSystem
    }

    /// Extracts what is named; nothing that is there is replaced.
    ///
    /// - Parameters:
    ///   - names: paths in the backup, of files, or of directories with all that is in them.
    ///   - backup: the backup, within its `look`.
    ///   - directory: where they go, each under its path; made if it is not there.
    /// - Returns: what came out.
    /// - Throws: `LookingError` if something named is not there; `FileError.exists` if a path is taken;
    ///   `ArchiveError`, `DamagedBytes`, `FileError`: then nothing came out of what was not yet in its place, and
    ///   no directory stays that was made for it.
    public func run(
        _ names: [String],
        of backup: OpenedBackup,
        to directory: FilePath
    ) throws -> Outcome {
        var made: [FilePath] = []
        do {
            return try run(names, of: backup, to: directory, making: &made)
        } catch {
            for path in made.reversed() { try? LocalFileSystem().removeEmptyDirectory(path) }
            throw error
        }
    }

    private func run(
        _ names: [String],
        of backup: OpenedBackup,
        to directory: FilePath,
        making made: inout [FilePath]
    ) throws -> Outcome {
        let found = try backup.items(NamedPaths(names)).filter { found in
            guard !found.item.entry.isSpecial else { return false }
            // A store comes out clean; what lies beside it does if somebody names it.
            return try found.root == found.item.attributes.path
                || !backup.archived.isStray(found.item)
        }
        let roots = Set(found.map(\.root)).sorted()
        for root in roots where try FileInfo.ifPresent(root.below(directory)) != nil {
            throw FileError.exists(root.below(directory))
        }
        let items = found.map(\.item)
        try warnOfLogs(beside: roots, of: backup, taking: items)
        made += try fileSystem.createMissing(directory)
        let scratch = try ScratchDirectory(in: directory)
        let unwritable = items.map(\.attributes).filter {
            $0.kind == .directory && $0.mode & Self.ownerWrites == 0 && roots.contains($0.path)
        }
        let writable = Set(unwritable.map(\.path))
        let size = try context.extract(items, into: scratch.path, at: directory, syncing: .each) {
            // A directory that its owner may not write to cannot get another parent (rename(2)).
            if writable.contains($0.path) { $0.mode |= Self.ownerWrites }
        }
        for root in roots {
            let place = root.below(directory)
            made += try fileSystem.createMissing(place.removingLastComponent())
            try fileSystem.move(root.below(scratch.path), to: place)
        }
        for attributes in unwritable { try Self.set(attributes, below: directory) }
        for parent in Set(roots.map { $0.below(directory).removingLastComponent() }) {
            try fileSystem.sync(parent)
        }
        return Outcome(
            paths: roots.map { printable($0.below(directory)) },
            files: items.count { $0.attributes.kind == .file },
            bytes: size
        )
    }

    /// The permission of a directory's owner to change it.
    private static let ownerWrites: UInt16 = 0o200

    /// Gives a directory its own mode, once it is in its place.
    private static func set(_ attributes: EntryAttributes, below directory: FilePath) throws {
        let parent = attributes.path.below(directory).removingLastComponent()
        try Directory.open(parent).setAttributes(
            of: attributes.path.name,
            isLink: false,
            mode: attributes.mode,
            modified: attributes.modified
        )
    }

    /// Tells of logs and journals beside what is extracted: in archives of others and of damaged stores, a
    /// store is not whole without.
    private func warnOfLogs(
        beside roots: [RelativePath],
        of backup: OpenedBackup,
        taking items: [ArchiveExtractor.Item]
    ) throws {
        let taken = Set(items.map(\.attributes.path))
        let logs = Set(
            roots.flatMap { root in
                ["-wal", "-journal"].map { root.sibling(root.name.appending($0)) }
            }
        ).subtracting(taken)
        for item in try backup.items(where: logs.contains)
        where try item.size > 0 && !backup.archived.isStray(item) {
            let path = item.attributes.path
            context.warn(
                "'\(path)' stays behind, and may be a part of what is beside it: name it, too"
            )
        }
    }
}
