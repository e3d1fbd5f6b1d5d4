internal import Files
internal import Stores
internal import SystemPackage

/// Excluded data goes away with the replaced directory, and comes back from there by renames alone: nothing is copied,
/// open files stay open, and no space is needed.
///
/// The restore journal has the paths and the backup's rules before the exchange. So these are all states of such a path
/// that a crash can leave, and what recovery does with them:
///
///     phase                       live     old     then
///     staging, setting aside      any      any     part of the old data, and goes where that goes
///     swapping, putting in        -        there   if the new data stays: move it to live
///     swapping, putting in        there    -       moved already; back to old if the new data has to go
///     swapping, putting in        another  there   directories are merged; else both stay, and `old` is
///                                                  not removed but gets a name of its own
///     rolling back, taking out    there    -       move it back to old, before anything else moves
///     rolling back, taking out    any      there   moved back already; what is in live is refused data
///     cleaning                    any      -       moved, and on the disk
///
/// No extra phase is needed: the phase in the journal says in which direction names move, and each move is made only
/// if it was not made before. Between the exchange and the last move, a path is missing in the stores directory.
/// Applications are stopped then, and no store of the backup needs the path. After a crash in between, the next
/// command of any kind makes the moves.
///
/// A file may be created between the look at the old data and the exchange. A second look finds it, before the old data
/// is removed.
extension RestoreSwap {
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
        var isWhole = try move(journal.keptPaths, from: paths.old, to: paths.live)
        guard sweeps else { return isWhole }
        let known = Set(journal.keptPaths)
        let late = try KeepingPlan(of: exclusions, from: paths.old, into: paths.live).kept
            .filter { !known.contains($0) }
        guard !late.isEmpty else { return isWhole }
        journal.keptPaths += late
        try write()
        if try !move(late, from: paths.old, to: paths.live) { isWhole = false }
        return isWhole
    }

    /// Moves all kept paths back to the old data, which is about to be in place again.
    func giveBack() throws {
        guard journal.exclusions != nil, try FileInfo.ifPresent(paths.old)?.kind == .directory
        else { return }
        // If both sides have the name, the application made it: it belongs to the refused data.
        let moved = try journal.keptPaths.filter { try FileInfo.inside(paths.old, $0) == nil }
        _ = try move(moved.reversed(), from: paths.live, to: paths.old)
    }

    /// Moves paths, and flushes the moves to the disk; returns whether all of them are in their place.
    private func move(
        _ kept: [RelativePath],
        from source: FilePath,
        to target: FilePath
    ) throws -> Bool {
        var isWhole = true
        var touched: Set<FilePath> = []
        // Also flush moves of an earlier run that was killed before it flushed them.
        for parent in Set(kept.map(\.parent)) {
            for root in [source, target] {
                guard let parent else {
                    touched.insert(root)
                    continue
                }
                if try FileInfo.inside(root, parent)?.kind == .directory {
                    touched.insert(parent.below(root))
                }
            }
        }
        for path in kept {
            guard let info = try FileInfo.inside(source, path),
                try FileInfo.ifPresent(path.below(source)) == info
            else { continue }
            if try !move(path, from: source, to: target, &touched) { isWhole = false }
        }
        // Flush all targets first: a power loss must leave each name in one of the two directories.
        for directory in touched.sorted(by: { $0.string < $1.string })
        where directory.starts(with: target) {
            try fileSystem.sync(directory)
        }
        for directory in touched.sorted(by: { $0.string < $1.string })
        where !directory.starts(with: target) {
            try fileSystem.sync(directory)
        }
        return isWhole
    }

    private func move(
        _ path: RelativePath,
        from source: FilePath,
        to target: FilePath,
        _ touched: inout Set<FilePath>
    ) throws -> Bool {
        for parent in sequence(first: path, next: \.parent).dropFirst().reversed() {
            let like = try FileInfo(of: parent.below(source))
            guard let info = try FileInfo.inside(target, parent) else {
                try KeepingPlan.makeDirectory(parent, in: target, like: like)
                continue
            }
            guard info.kind == .directory else { return false }
        }
        let (from, to) = (path.below(source), path.below(target))
        do {
            try fileSystem.move(from, to: to)
        } catch FileError.exists {
            return try merge(path, from: source, to: target, &touched)
        }
        touched.formUnion([from.removingLastComponent(), to.removingLastComponent()])
        return true
    }

    /// Moves the content of a directory whose name is taken by another; returns whether all of it was moved.
    private func merge(
        _ path: RelativePath,
        from source: FilePath,
        to target: FilePath,
        _ touched: inout Set<FilePath>
    ) throws -> Bool {
        let (from, to) = (path.below(source), path.below(target))
        let infos = try [from, to].map { try FileInfo(of: $0) }
        if infos[0].identity == infos[1].identity {
            // link(2) and unlink(2) move files if no better call exists, and a crash came between them.
            try fileSystem.remove(from)
            return true
        }
        guard infos.allSatisfy({ $0.kind == .directory }) else { return false }
        touched.formUnion([from, to])
        var isWhole = true
        for name in try Directory.open(from).names()
        where try !move(path.appending(name), from: source, to: target, &touched) {
            isWhole = false
        }
        return isWhole
    }
}
