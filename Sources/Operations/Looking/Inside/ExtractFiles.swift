internal import Archives
internal import Backups
public import Files
internal import Stores
public import SystemPackage

/// Extracts files from a backup, each complete and verified, or not at all.
///
/// It follows no link below the target directory, and never places a store beside a log of another state.
public struct ExtractFiles {
    /// The result of an extraction.
    public struct Outcome: Sendable {
        /// The new files and directories that were named, printable.
        public var paths: [String]
        /// The number of extracted files, and their size in bytes.
        public var files: Int
        public var bytes: Int64
    }

    let context: OperationContext
    private let fileSystem: any FileSystem
    /// Whether files keep their set-user-ID and set-group-ID bits.
    private let keepsSetID: Bool

    public init(context: OperationContext, fileSystem: any FileSystem, keepingSetID: Bool = false) {
        self.context = context
        self.fileSystem = fileSystem
        keepsSetID = keepingSetID
    }

    /// Extracts the named paths; nothing that exists is replaced.
    ///
    /// - Parameters:
    ///   - names: paths in the backup of files, or of directories with all that is in them.
    ///   - backup: the backup, within its `look`.
    ///   - directory: the target directory, in which each entry keeps its path; created if it is missing.
    /// - Returns: the extracted files.
    /// - Throws: `LookingError` if a name matches nothing; `FileError.exists` if a path is taken; `ExtractError`;
    ///   `ArchiveError`, `DamagedBytes`, `FileError`. After an error, only paths that were already moved into place
    ///   remain, and new directories are removed if they are empty.
    public func run(
        _ names: [String],
        of backup: OpenedBackup,
        to directory: FilePath
    ) throws -> Outcome {
        let found = try found(names, in: backup)
        let place = Place(roots: Set(found.map(\.root)), items: found.map(\.item))
        try place.refuseOccupied(of: backup, in: try? .open(directory))
        try warnOfLogs(beside: place, of: backup)
        let made = try fileSystem.createMissing(directory)
        var inside: [(Directory, FileName)] = []
        do {
            return try extract(place, of: backup, to: .open(directory), making: &inside)
        } catch {
            for (parent, name) in inside.reversed() { try? parent.removeDirectory(name) }
            for path in made.reversed() { try? LocalFileSystem().removeEmptyDirectory(path) }
            throw error
        }
    }

    /// Finds the named entries, without SQLite's files of a later moment than the store beside them.
    private func found(
        _ names: [String],
        in backup: OpenedBackup
    ) throws -> [(item: ArchiveItem, root: RelativePath)] {
        let found = try backup.items(NamedPaths(names)).filter { !$0.item.entry.isSpecial }
        let roots = Set(found.map(\.root))
        return try found.filter { item, root in
            let path = item.attributes.path
            let isAlone =
                path == root && Store.database(ofFileBeside: path).map(roots.contains) != true
            return try isAlone || !backup.archived.isStray(item)
        }
    }

    private func extract(
        _ place: Place,
        of backup: OpenedBackup,
        to target: Directory,
        making made: inout [(Directory, FileName)]
    ) throws -> Outcome {
        let scratch = try ScratchDirectory(in: target.path)
        let locked = Set(
            place.items.map(\.attributes).filter {
                $0.kind == .directory && $0.mode & Self.ownerMayChange != Self.ownerMayChange
                    && place.roots.contains($0.path)
            }.map(\.path)
        )
        var attributes: [RelativePath: EntryAttributes] = [:]
        let size = try context.extract(
            place.items,
            into: scratch.path,
            at: target.path,
            syncing: .each,
            by: AttributeRules(keepingSetID: keepsSetID)
        ) {
            guard locked.contains($0.path) else { return }
            attributes[$0.path] = $0
            // A directory that its owner may not write to cannot be moved to another parent (rename(2)).
            $0.mode |= Self.ownerMayChange
        }
        // An application may have run in the meantime.
        try place.refuseOccupied(of: backup, in: target)
        let staged = try Directory.open(scratch.path)
        for root in place.sorted {
            let parent = try target.descend(to: root.parent) { directory, name in
                try directory.createDirectory(name)
                made.append((directory, name))
                return true
            }
            guard let parent, let source = try staged.descend(to: root.parent) else { continue }
            let opened = try attributes[root].map { _ in try source.directory(root.name) }
            try source.move(root.name, to: parent)
            if let own = attributes[root] {
                try opened?.setAttributes(mode: own.mode, modified: own.modified)
            }
            try parent.sync()
        }
        for (parent, _) in made { try parent.sync() }
        return Outcome(
            paths: place.sorted.map { printable($0.below(target.path)) },
            files: place.items.count { $0.attributes.kind == .file },
            bytes: size
        )
    }

    /// The permissions of a directory's owner.
    private static let ownerMayChange: UInt16 = 0o700

    /// Warns of logs and journals that stay behind.
    ///
    /// In other programs' archives, and beside damaged stores, a store is incomplete without them.
    private func warnOfLogs(beside place: Place, of backup: OpenedBackup) throws {
        let taken = Set(place.items.map(\.attributes.path))
        let logs = Set(
            place.roots.flatMap { root in
                ["-wal", "-journal"].map { root.sibling(root.name.appending($0)) }
            }
        ).subtracting(taken)
        for item in try backup.items(where: logs.contains)
        where try item.size > 0 && !backup.archived.isStray(item) {
            let path = item.attributes.path
            context.warn(
                "'\(path)' is not extracted, and may hold a part of the store beside it: name it, too"
            )
        }
    }
}
