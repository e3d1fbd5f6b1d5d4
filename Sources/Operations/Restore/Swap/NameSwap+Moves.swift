internal import Files
internal import Stores
internal import SystemPackage

/// The moves of a swap, each of which is made only if it was not made before.
///
/// In a directory that is not renamed, a phase has these steps: create the directories above the names. Rename each
/// name. Names move into the stores directory in the order of their bytes, and out of it in the opposite order: an
/// application that starts meanwhile must not find a log without its database, because SQLite would delete the log.
/// Flush the target directories, then the source directories.
///
/// A directory that gets another parent changes itself, since its `..` does, and its owner may not do that without
/// write permission. So it has that for its move alone. The restore journal names it before, and a recovery takes
/// the permission away again before anything else.
///
/// Excluded data goes away with the replaced directory, and comes back from there by renames alone: nothing is copied,
/// open files stay open, and no space is needed. The restore journal has these *kept* paths and the backup's rules
/// before the exchange. The phase says in which direction they move:
///
///     phase                      live     old     then
///     staging                    any      any     part of the old data, and goes where that goes
///     setting aside, putting in  -        there   if the new data stays: move it to live
///     setting aside, putting in  there    -       moved already; back to old if the new data has to go
///     setting aside, putting in  another  there   directories are merged; else both stay, and `old` is
///                                                 not removed but gets a name of its own
///     taking out                 there    -       move it back to old, before anything else moves
///     taking out                 any      there   moved back already; what is in live is refused data
///     cleaning                   any      -       moved, and on the disk
///
/// Between the exchange and the last move, a kept path is missing in the stores directory. Applications are stopped
/// then, and no store of the backup needs the path. A file may be created between the look at the old data and the
/// exchange: a second look finds it, before the old data is removed.
extension NameSwap {
    func lost() -> RestoreError {
        .cannotRecover(paths.journal, reason: "the directories are not where it says")
    }

    // MARK: - Whole directories

    /// Returns a directory's inode, which renames and restarts of the system keep.
    ///
    /// The number of its device may change at a restart, and is the same for all directories here.
    static func inode(_ path: FilePath) throws -> UInt64? {
        try FileInfo.ifPresent(path)?.identity.inode
    }

    /// Exchanges two directories in one step, if the file system can do that.
    func exchangeDirectories(_ first: FilePath, _ second: FilePath) throws {
        if try fileSystem.swap(first, second) { try fileSystem.sync(paths.area) }
    }

    /// Moves one of the two directories to a place, wherever it is now; does nothing for `nil`.
    func bring(_ directory: FileInfo.Identity?, to place: FilePath) throws {
        guard let inode = directory?.inode, try Self.inode(place) != inode else { return }
        let places = [paths.live, paths.new, paths.old]
        guard let present = try places.first(where: { try Self.inode($0) == inode }) else {
            throw lost()
        }
        try fileSystem.move(present, to: place)
        try fileSystem.sync(paths.area)
    }

    // MARK: - Names in the stores directory

    /// Moves all names that may be moved, and flushes the moves to the disk.
    mutating func moveAll(from source: FilePath, to target: FilePath) throws {
        guard let info = try FileInfo.ifPresent(source) else { return }
        guard info.kind == .directory, try FileInfo(of: target).kind == .directory else {
            throw lost()
        }
        let names = try journal.part?.roots ?? names(in: source)
        _ = try move(source == paths.live ? names.reversed() : names, from: source, to: target)
    }

    /// Returns the names in a directory, except those that stay in the stores directory.
    private func names(in source: FilePath) throws -> [RelativePath] {
        let live = try StoresDirectory(paths.live)
        let inLive = try Directory.open(paths.live)
        return try Directory.open(source).names().filter { name in
            guard let info = try? inLive.info(name) else { return true }
            return !live.leavesOut(name, info)
        }.map { RelativePath(name: $0) }
    }

    /// Returns whether a directory contains nothing but directories that led to names moved out of it.
    func isMovedOut(of path: FilePath) throws -> Bool {
        let above = journal.part?.above ?? []
        var isMoved = true
        try Directory.open(path).walk(failed: { throw $1 }) { file in
            if file.info.kind == .directory, above.contains(file.path) { return .descend }
            isMoved = false
            return .skip
        }
        return isMoved
    }

    // MARK: - Kept paths

    /// Moves all kept paths into the stores directory, which has the restored data.
    ///
    /// - Parameter sweeps: whether to look again for files created since the journal was written. This is possible only
    ///   while nothing of the old data has been removed.
    /// - Returns: whether all kept paths are there now. If another process has taken such a name, its file stays, and
    ///   so does the kept one.
    /// - Throws: `FileError`; the next run tries again.
    mutating func keep(sweeps: Bool) throws -> Bool {
        guard let exclusions = journal.exclusions,
            try FileInfo.ifPresent(paths.old)?.kind == .directory
        else { return true }
        let isWhole = try keep(journal.keptPaths, from: paths.old, in: paths.live)
        guard sweeps else { return isWhole }
        let known = Set(journal.keptPaths)
        let late = try KeepingPlan(of: exclusions, from: paths.old, into: paths.live).kept
            .filter { !known.contains($0) }
        guard !late.isEmpty else { return isWhole }
        journal.keptPaths += late
        try write()
        return try keep(late, from: paths.old, in: paths.live) && isWhole
    }

    /// Moves all kept paths back to the old data, which is about to be in place again.
    mutating func giveBack() throws {
        guard journal.exclusions != nil, try FileInfo.ifPresent(paths.old)?.kind == .directory
        else { return }
        // If both sides have the name, the application made it: it belongs to the refused data.
        let moved = try journal.keptPaths.filter { try FileInfo.inside(paths.old, $0) == nil }
        _ = try keep(moved.reversed(), from: paths.live, in: paths.old)
    }

    private mutating func keep(
        _ kept: [RelativePath],
        from source: FilePath,
        in target: FilePath
    ) throws -> Bool {
        try kept.isEmpty || move(kept, from: source, to: target, isKept: true)
    }

    // MARK: - Paths

    /// Moves the paths that exist, and flushes the moves to the disk.
    ///
    /// - Parameters:
    ///   - names: the paths, in their order.
    ///   - source: the directory that they are in.
    ///   - target: the directory that they go to.
    ///   - isKept: whether the paths are kept data: a directory is then merged into one that has its name, and a file
    ///     whose name is taken stays.
    /// - Returns: whether all of them are in their place.
    /// - Throws: `FileError`; unless the paths are kept, `.exists` or `.notA` if a name is taken.
    private mutating func move(
        _ names: [RelativePath],
        from source: FilePath,
        to target: FilePath,
        isKept: Bool = false
    ) throws -> Bool {
        var isWhole = true
        // Also flush moves of an earlier run that was killed before it flushed them.
        var touched = Set(names.flatMap(\.ancestors))
        for path in names {
            // A symbolic link in place of a directory leads elsewhere.
            guard let info = try FileInfo.inside(source, path),
                try FileInfo.ifPresent(path.below(source)) == info
            else { continue }
            if try !move(path, from: source, to: target, isKept: isKept, &touched) {
                isWhole = false
            }
        }
        // Flush all targets first: a power loss must leave each name in one of the two directories.
        for root in [target, source] {
            try fileSystem.sync(root)
            for directory in touched.sorted()
            where try FileInfo.inside(root, directory)?.kind == .directory {
                try fileSystem.sync(directory.below(root))
            }
        }
        return isWhole
    }

    private mutating func move(
        _ path: RelativePath,
        from source: FilePath,
        to target: FilePath,
        isKept: Bool,
        _ touched: inout Set<RelativePath>
    ) throws -> Bool {
        do {
            try makeDirectories(to: path, in: target, like: isKept ? source : nil)
        } catch FileError.notA(.directory, _) where isKept {
            return false
        }
        let (from, to) = (path.below(source), path.below(target))
        do {
            try rename(path, from: source, to: target)
            return true
        } catch FileError.exists(let taken) {
            let infos = try [from, to].map { try FileInfo(of: $0) }
            if infos[0].identity == infos[1].identity {
                // link(2) and unlink(2) move files if no better call exists, and a crash came between them.
                try fileSystem.remove(from)
                return true
            }
            guard isKept else { throw FileError.exists(taken) }
            guard infos.allSatisfy({ $0.kind == .directory }) else { return false }
        }
        touched.insert(path)
        var isWhole = true
        for name in try Directory.open(from).names() {
            let path = path.appending(name)
            if try !move(path, from: source, to: target, isKept: true, &touched) {
                isWhole = false
            }
        }
        return isWhole
    }

    /// Renames a path, with write permission for a directory that its owner may not change.
    private mutating func rename(
        _ path: RelativePath,
        from source: FilePath,
        to target: FilePath
    ) throws {
        let (from, to) = (path.below(source), path.below(target))
        do {
            return try fileSystem.move(from, to: to)
        } catch let error as FileError where error.forbidsRename {
            guard let info = try FileInfo.inside(source, path), info.kind == .directory,
                info.mode & 0o200 == 0
            else { throw error }
            let loosened = RestoreJournal.Loosened(path, info)
            journal.loosened = loosened
            try write()
            // Only the owner may do that.
            guard (try? fileSystem.setMode(loosened.looseMode, of: from)) != nil else {
                throw error
            }
        }
        do {
            try fileSystem.move(from, to: to)
        } catch {
            try? tighten()
            throw error
        }
        try tighten()
    }

    /// Takes away the write permission that a directory has for its move, wherever the directory is.
    mutating func tighten() throws {
        guard let loosened = journal.loosened, let path = loosened.path else { return }
        let places = [paths.live, paths.new, paths.old, journal.refused(in: paths)]
        for place in places.compactMap(\.self)
        where try FileInfo.ifPresent(place)?.kind == .directory {
            guard let info = try FileInfo.inside(place, path), info.kind == .directory,
                info.identity.inode == loosened.inode, info.mode == loosened.looseMode
            else { continue }
            try fileSystem.setMode(loosened.mode, of: path.below(place))
            try fileSystem.sync(path.below(place))
        }
        journal.loosened = nil
    }

    /// Creates the missing directories above a path, with the attributes of those in another directory, if any.
    private func makeDirectories(
        to path: RelativePath,
        in target: FilePath,
        like source: FilePath?
    ) throws {
        for parent in path.ancestors {
            if let info = try FileInfo.inside(target, parent) {
                guard info.kind == .directory else {
                    throw FileError.notA(.directory, parent.below(target))
                }
            } else if let source {
                let info = try FileInfo(of: parent.below(source))
                try KeepingPlan.makeDirectory(parent, in: target, like: info)
            } else {
                try fileSystem.createDirectory(parent.below(target))
            }
        }
    }
}
