internal import Files
internal import Stores
internal import SystemPackage

/// A swap of the data staged in a stores directory with the rest of its content, name by name.
///
/// It serves directories that cannot be exchanged themselves.
///
/// All its files are in a hidden directory there, `.grocerydude-restore`: the restore journal (`journal.json`), `New`
/// and `Old`. The journal records in which direction names move, so that after a crash it is known for every name
/// which data it belongs to. All moves of one phase are on the disk before the journal records the next phase. In the
/// table, `live` is the rest of the stores directory:
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
/// At the end, the restore journal is removed, and the hidden directory too unless it contains kept data. As long as
/// it does, restores use this swap, because an exchange would take the kept data away. Backups and the moves
/// themselves skip the hidden directory, as they skip `lost+found` at the top of a mounted file system. It is never
/// restored from an archive, because a journal in it would be obeyed.
///
/// Each name is missing for a moment. An application that starts then must not find a log without its database,
/// because SQLite would delete the log. So names move in in the order of their bytes, and out in the opposite order.
/// Nothing is overwritten: if the application creates a file under a name that must come back, recovery stops and
/// reports both.
///
/// If only a part of a backup is restored, only its paths move; see `RestoredPart+Moving.swift`.
struct ChildrenSwap: RestoreSwap {
    let paths: RestorePaths
    let fileSystem: any FileSystem
    var journal: RestoreJournal

    mutating func stage() throws {
        if try FileInfo.ifPresent(paths.area) == nil {
            try fileSystem.createDirectory(paths.area)
        }
        try fileSystem.sync(paths.live)
        try write()
        try fileSystem.createDirectory(paths.new)
    }

    mutating func exchange(stores: Int) throws {
        journal.stores = stores
        try fileSystem.createDirectory(paths.old)
        try enter(.settingAside)
        try moveAll(from: paths.live, to: paths.old)
        try enter(.puttingIn)
        try moveAll(from: paths.new, to: paths.live)
    }

    mutating func removeStaged() throws {
        journal.phase = .staging
        try fileSystem.remove(paths.new)
        try removeEmptied(paths.old)
        journal.phase = .settled
    }

    mutating func rollBack() throws -> FilePath {
        try enter(.takingOut)
        try giveBack()
        try moveAll(from: paths.live, to: paths.new)
        guard let refused = try putBack() else { throw lost() }
        return refused
    }

    /// Completes a rollback whose refused data has been taken out.
    private mutating func putBack() throws -> FilePath? {
        if try FileInfo.ifPresent(paths.new) != nil {
            journal.refused = try paths.vacant("FailedRestore").lastComponent?.string
        }
        try enter(.puttingBack)
        try moveAll(from: paths.old, to: paths.live)
        if let name = journal.refused, try FileInfo.ifPresent(paths.new) != nil {
            try fileSystem.move(paths.new, to: paths.area.appending(name))
        }
        let refused = try journal.keptRefusal(in: paths)
        try removeEmptied(paths.old)
        journal.phase = .settled
        return refused
    }

    mutating func removeReplaced() throws -> FilePath? {
        let isWhole = try keep(sweeps: journal.phase != .cleaning)
        try enter(.cleaning)
        let leftover = try removeOld(isWhole: isWhole)
        // It may still contain names that no restore puts in place.
        try fileSystem.remove(paths.new)
        journal.phase = .settled
        return leftover
    }

    // MARK: - Steps

    /// Moves all names that may be moved, and flushes the moves to the disk.
    private func moveAll(from source: FilePath, to target: FilePath) throws {
        guard let info = try FileInfo.ifPresent(source) else { return }
        guard info.kind == .directory, try FileInfo(of: target).kind == .directory else {
            throw lost()
        }
        if let part = journal.part {
            let isBackwards = source == paths.live
            return try part.move(
                from: source,
                to: target,
                backwards: isBackwards,
                with: fileSystem
            )
        }
        let live = try StoresDirectory(paths.live)
        let inLive = try Directory.open(paths.live)
        let directory = try Directory.open(source)
        let names = try directory.names().filter { name in
            // A name that stays in the stores directory is not moved.
            guard let info = try? inLive.info(name) else { return true }
            return !live.leavesOut(name, info)
        }
        for name in source == paths.live ? names.reversed() : names {
            let name = RelativePath(name: name)
            try fileSystem.moveOnce(name.below(source), to: name.below(target))
        }
        try fileSystem.sync(target)
        try fileSystem.sync(source)
    }

    /// Removes a directory after its names were moved out; never one that still contains some.
    private func removeEmptied(_ path: FilePath) throws {
        guard try FileInfo.ifPresent(path) != nil else { return }
        let isEmptied =
            try journal.part?.isMovedOut(of: path)
            ?? Directory.open(path).names().isEmpty
        guard isEmptied else { throw lost() }
        try fileSystem.remove(path)
    }

    // MARK: - After a crash

    mutating func recover(judge: Verdict.Judge) throws -> RestoreRecovery {
        do {
            return try recoverNames(judge)
        } catch FileError.exists(let path) {
            throw obstructed(by: path)
        } catch FileError.notA(.directory, let path) {
            throw obstructed(by: path)
        }
    }

    private func obstructed(by path: FilePath) -> RestoreError {
        .cannotRecover(
            paths.journal,
            reason:
                "'\(printable(path))' was made meanwhile; what belongs there is in '\(printable(paths.area))'"
        )
    }

    private mutating func recoverNames(_ judge: Verdict.Judge) throws -> RestoreRecovery {
        switch journal.phase {
        case .staging: break
        case .settingAside: try moveAll(from: paths.old, to: paths.live)
        case .puttingIn:
            var subject = Verdict.Subject.inPlace
            do {
                try moveAll(from: paths.new, to: paths.live)
            } catch {
                subject = .halfInPlace(error)
            }
            return try carryOut(judge(journal, subject))
        case .takingOut: return try carryOut(judge(journal, .refused))
        case .puttingBack: return .undone(refused: try putBack(), since: nil)
        case .cleaning: return .finished(leftover: try removeReplaced())
        case .settled: return .settled
        case .swapping, .rollingBack: throw lost()
        }
        try removeStaged()
        return .undone(refused: nil, since: nil)
    }

    private func lost() -> RestoreError {
        .cannotRecover(paths.journal, reason: "the directories are not as it says")
    }
}
