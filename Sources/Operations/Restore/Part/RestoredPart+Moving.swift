internal import Files
internal import SystemPackage

/// A restore of a part: the named paths are exchanged, and nothing else is touched.
///
/// It always stages inside the stores directory. So it only renames, an application may keep using stores that were
/// not named, and everything that stays keeps its inode. The phases are those of `ChildrenSwap`. In the table, `live`,
/// `new` and `old` are the *roots* in each of the three directories:
///
///     phase          live         new          old          then
///     staging        old          any or -     empty or -   remove new                  → old
///     setting aside  part of old  new          rest of old  move old back, remove new   → old
///     putting in     part of new  rest of new  old          move new in; check          → new, or roll back
///     taking out     rest of new  part of new  old          move the rest out; put back → old
///     putting back   part of old  new or -     rest of old  move old back; keep new     → old
///     cleaning       new          empty or -   any or -     remove old, or put it aside → new
///     settled        any          -            -            say that the application is to be started
///
/// The roots are in version 3 of the restore journal from the beginning: an older program would move all names, so it
/// must refuse. The roots are: the named paths; for a store, all names that SQLite uses beside it, even missing ones,
/// so that a log of one database never meets another; missing or different files of external data. If directories
/// above a path are missing, the highest missing one is the root: undoing the restore removes it as a whole. No root
/// contains another, so that one rename moves each.
///
/// A phase has these steps: create the directories above the roots. Rename each root. Roots
/// move into the stores directory in the order of their bytes (a database before its log), and out of it in the
/// opposite order. Flush the target directories, then the source directories. Only then does the journal record the
/// next phase. So a power loss leaves each root in one of two places. A move stops if its target name exists.
extension RestoredPart {
    /// Moves the paths that exist, and flushes the moves to the disk.
    ///
    /// - Parameters:
    ///   - source: the directory that they are in: the stores directory, `new` or `old`.
    ///   - target: the directory that they go to: another of these.
    ///   - isBackwards: whether they move in the opposite order.
    ///   - fileSystem: the file system that moves them.
    /// - Throws: `FileError`; `.exists` if a name is taken.
    func move(
        from source: FilePath,
        to target: FilePath,
        backwards isBackwards: Bool,
        with fileSystem: any FileSystem
    ) throws {
        for path in isBackwards ? roots.reversed() : roots {
            // A symbolic link in place of a directory leads elsewhere.
            guard let info = try FileInfo.inside(source, path),
                try FileInfo.ifPresent(path.below(source)) == info
            else { continue }
            try makeDirectories(to: path, in: target, with: fileSystem)
            try fileSystem.moveOnce(path.below(source), to: path.below(target))
        }
        // Also flush moves of an earlier run that was killed before it flushed them.
        try sync(target, with: fileSystem)
        try sync(source, with: fileSystem)
    }

    /// Flushes the entries of a directory, and of the directories in it that lead to the paths.
    private func sync(_ root: FilePath, with fileSystem: any FileSystem) throws {
        try fileSystem.sync(root)
        for directory in above.sorted()
        where try FileInfo.inside(root, directory)?.kind == .directory {
            try fileSystem.sync(directory.below(root))
        }
    }

    /// Creates the directories above a path if they are missing.
    private func makeDirectories(
        to path: RelativePath,
        in root: FilePath,
        with fileSystem: any FileSystem
    ) throws {
        for parent in sequence(first: path, next: \.parent).dropFirst().reversed() {
            let place = parent.below(root)
            guard let info = try FileInfo.inside(root, parent) else {
                try fileSystem.createDirectory(place)
                continue
            }
            guard info.kind == .directory else { throw FileError.notA(.directory, place) }
        }
    }

    /// Returns whether a directory that the paths were moved out of contains nothing but directories that led to them.
    ///
    /// - Throws: `FileError`.
    func isMovedOut(of path: FilePath) throws -> Bool {
        var isMoved = true
        try Directory.open(path).walk(failed: { throw $1 }) { file in
            if file.info.kind == .directory, isBelow(file.path) { return .descend }
            isMoved = false
            return .skip
        }
        return isMoved
    }
}

extension FileSystem {
    /// Moves one name.
    ///
    /// A crash may have left it in both directories if files are moved with link(2) and unlink(2).
    ///
    /// - Throws: `FileError`; `.exists` if the name is taken by another file.
    func moveOnce(_ path: FilePath, to newPath: FilePath) throws {
        do {
            try move(path, to: newPath)
        } catch FileError.exists(let taken) {
            let identities = try [path, newPath].map { try FileInfo(of: $0).identity }
            guard identities[0] == identities[1] else { throw FileError.exists(taken) }
            try remove(path)
        }
    }
}
