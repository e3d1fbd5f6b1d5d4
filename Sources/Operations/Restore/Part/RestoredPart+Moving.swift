internal import Files
internal import SystemPackage

/// A restore of a part: the paths that were named change places, and nothing else is touched.
///
/// It stages inside the stores directory, whatever that is: nothing but names moves then, an application may
/// go on with stores that were not named, and what stays keeps its inode. The phases are those of
/// `ChildrenSwap`; `live`, `new` and `old` are here what the three directories have of the *roots*:
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
/// The roots are in the restore journal, in version 3 of it, from the beginning: an older program would move
/// all names, and refuses. They are what was named; of a store all names that SQLite uses beside it, be
/// they there or not, so that no log of one database ever meets another; files of external data that are
/// missing or other ones. Instead of a path whose directory is missing, the highest such directory is a root:
/// to undo the restore it goes as a whole. None is in another, so that each is moved by one rename.
///
/// One phase does in this order: make the directories that lead to the roots; rename each root, into the stores
/// directory in the order of their bytes (a database before its log) and out of it in the opposite one; flush
/// the directories that names came to, then those that they left. Only then does the journal say the next phase.
/// So a loss of power leaves each root in one of two places, and a name that a move would replace stops it.
extension RestoredPart {
    /// Moves those paths that are there, and has that on the disk.
    ///
    /// - Parameters:
    ///   - source: where they are: the stores directory, `new` or `old`.
    ///   - target: where they go: another of these.
    ///   - isBackwards: whether they move in the opposite of their order.
    ///   - fileSystem: moves them.
    /// - Throws: `FileError`; `.exists` if a name is taken.
    func move(
        from source: FilePath,
        to target: FilePath,
        backwards isBackwards: Bool,
        with fileSystem: any FileSystem
    ) throws {
        for path in isBackwards ? roots.reversed() : roots {
            // A link that has taken the place of a directory leads elsewhere.
            guard let info = try FileInfo.inside(source, path),
                try FileInfo.ifPresent(path.below(source)) == info
            else { continue }
            try makeDirectories(to: path, in: target, with: fileSystem)
            try fileSystem.moveOnce(path.below(source), to: path.below(target))
        }
        // Also of those that a run has moved that was killed before it came to this.
        try sync(target, with: fileSystem)
        try sync(source, with: fileSystem)
    }

    /// Has the entries of a directory on the disk, and of those in it that lead to the paths.
    private func sync(_ root: FilePath, with fileSystem: any FileSystem) throws {
        try fileSystem.sync(root)
        for directory in above.sorted()
        where try FileInfo.inside(root, directory)?.kind == .directory {
            try fileSystem.sync(directory.below(root))
        }
    }

    /// Makes the directories that lead to a path, if they are not there.
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

    /// Returns whether a directory that the paths were moved out of has nothing but directories that led to
    /// them.
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
    /// Moves one name; a crash may have left it in both directories, if link(2) and unlink(2) move files.
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
