internal import Files
internal import Stores
internal import SystemPackage

/// Exchanges the data staged in a stores directory and all else in it, name by name: for a directory
/// that cannot change places itself.
///
/// All of it is in a hidden directory there, `.grocerydude-restore`: the restore journal (`journal.json`),
/// `New` and `Old`. The journal says in which direction names move, so that after a crash it is known of
/// every name what it belongs to; all moves of one phase are on the disk before the journal says the next.
/// `live` stands for what else is in the stores directory:
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
/// When all is done the restore journal is removed, and the hidden directory too unless something is kept
/// in it. As long as something is, restores are made this way: an exchange would take it away. Backups
/// and the moves themselves leave the directory out, as they leave out `lost+found` at the top of a
/// mounted file system; it is never restored from an archive, since a journal in it would be obeyed.
///
/// Each name is missing for a moment. An application that starts then must find no log without its
/// database, which SQLite would delete: names move in in the order of their bytes, and out in the opposite
/// one. Nothing is overwritten: if the application makes a file under a name that is to come back,
/// recovery stops and names both.
///
/// If only a part of a backup is restored, its paths are the only names that move; see `RestoredPart+Moving.swift`.
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

    /// Does the rest of a roll back that has taken out all refused data.
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
        // It may still have names that no restore puts in place.
        try fileSystem.remove(paths.new)
        journal.phase = .settled
        return leftover
    }

    // MARK: - Steps

    /// Moves all that may be moved, and has it on the disk.
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
            // A name that stays in the stores directory is not taken from there.
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

    /// Removes a directory that names were moved out of; never one that still has some.
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
