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
    ///   `ArchiveError`, `DamagedBytes`, `FileError`: then nothing came out of what was not yet in its place.
    public func run(
        _ names: [String],
        of backup: OpenedBackup,
        to directory: FilePath
    ) throws -> Outcome {
        let paths = NamedPaths(names)
        let found = try backup.items(paths).filter { !$0.item.entry.isSpecial }
        let named = Set(found.map(\.root))
        let roots = named.filter { !$0.hasAncestor(in: named) }.sorted()
        for root in roots where try FileInfo.ifPresent(root.below(directory)) != nil {
            throw FileError.exists(root.below(directory))
        }
        let size = found.reduce(0) { $0 + ($1.item.attributes.kind == .file ? $1.item.size : 0) }
        try fileSystem.createDirectories(directory)
        let available = try Directory.open(directory).availableSpace()
        guard size <= available else {
            throw OperationError.noSpace(directory, needed: size, available: available)
        }
        let scratch = try ScratchDirectory(in: directory)
        try extract(found.map(\.item), into: scratch.path, size: size)
        for root in roots {
            let place = root.below(directory)
            try fileSystem.createDirectories(place.removingLastComponent())
            try fileSystem.move(root.below(scratch.path), to: place)
        }
        try fileSystem.sync(directory)
        return Outcome(
            paths: roots.map { printable($0.below(directory)) },
            files: found.count { $0.item.attributes.kind == .file },
            bytes: size
        )
    }

    private func extract(
        _ items: [ArchiveExtractor.Item],
        into path: FilePath,
        size: Int64
    ) throws {
        context.report(.began(.extracting, total: size))
        let extractor = ArchiveExtractor(
            into: try Directory.open(path),
            syncing: .each,
            threads: context.threads,
            progressed: context.advance
        )
        defer { extractor.close() }
        for var item in items {
            if !ArchivedBackup.mayGiveAway { item.attributes.owner = nil }
            try extractor.extract(item)
        }
        try extractor.finish()
    }
}
