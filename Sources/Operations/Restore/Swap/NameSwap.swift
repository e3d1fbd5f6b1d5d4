internal import Files
internal import Stores
internal import SystemPackage

/// A swap of staged data with the present data, which can be undone: a list of names, each of which moves from its
/// place to `old`, and from `new` to its place.
///
/// There are three such lists. The *whole* is one name: that of the stores directory, with `Stores_New` and `Stores_Old`
/// beside it. If that directory cannot be renamed, the names are *all in it*, and `new` and `old` are in a hidden
/// directory there, `.grocerydude-restore`. If a *part* of a backup is restored, they are its roots (see
/// `RestoredPart`), and `new` and `old` are there too: an application may keep using all else.
///
/// The restore journal announces each phase before the first step of it, and all moves of a phase are on the disk
/// before the next. So after a crash, the phase says for every name which data it belongs to. The whole moves by one
/// atomic exchange where the file system has it. Its two directories are identified by their inodes, which a rename
/// keeps; the number of a device may change at a restart. Here `old` and `new` mean the names of that data; of the
/// whole, a part is all or nothing:
///
///     phase          live         new          old          refused      then
///     staging        old          any or -     empty or -   -            remove new                   → old
///     setting aside  part of old  new          rest of old  -            move old back; remove new    → old
///     setting aside  new (whole)  old or -     old or -     -            check again                  → new, or roll back
///     putting in     part of new  rest of new  old          -            move new in; check again     → new, or roll back
///     taking out     part of new  rest or -    old          rest of new  take the rest out; put back  → old
///     taking out     old (whole)  -            new          -            move new to refused          → old
///     putting back   part of old  -            rest of old  new          move old back                → old
///     cleaning       new          empty or -   any or -     -            remove old, or put it aside  → new
///     settled        any          -            -            any or -     say that the application is to be started
///
/// To *check again* is to read the stores as a backup does (see `Verdict.afterCrash`): an application may have opened
/// them since. If there was no stores directory, `old` does not exist, and removing the new one undoes the restore.
///
/// Nothing is overwritten. A directory beside the stores directory that is not the one in the journal is left alone.
/// If the stores directory is neither, somebody repaired it: recovery reports that, and changes nothing. If an
/// application creates a file under a name that must come back, recovery stops and reports both.
///
/// A restore ends in three steps: the data that must not stay is removed (`removeStaged`, `rollBack` or
/// `removeReplaced`), the application is started, and `removeJournal` comes last. In between, the phase is `settled`.
/// The hidden directory stays as long as it contains refused data; restores use it then, because an exchange would
/// take that data away. Backups and the moves skip it, as they skip `lost+found` at the top of a mounted file system.
/// It is never restored from an archive, because a journal in it would be obeyed.
struct NameSwap: Sendable {
    let paths: RestorePaths
    let fileSystem: any FileSystem
    /// The facts that are needed after a crash.
    var journal: RestoreJournal

    /// Whether the stores directory itself moves.
    var isWhole: Bool { paths.layout == .beside }

    /// Announces the restore, and creates the directory to stage in.
    ///
    /// If it throws, the caller removes that directory and the restore journal.
    mutating func stage() throws {
        if isWhole {
            journal.old = try FileInfo.ifPresent(paths.live)?.identity
        } else {
            if try FileInfo.ifPresent(paths.area) == nil {
                try fileSystem.createDirectory(paths.area)
            }
            try fileSystem.sync(paths.live)
        }
        try write()
        try fileSystem.createDirectory(paths.new)
        guard isWhole else { return }
        journal.new = try FileInfo(of: paths.new).identity
        try write()
    }

    /// Puts the staged data in place, and moves the present data to `old`.
    ///
    /// If it throws, the restore journal records what there is to recover, and how many stores were staged.
    mutating func exchange(stores: Int) throws {
        journal.stores = stores
        if !isWhole { try fileSystem.createDirectory(paths.old) }
        try enter(.settingAside)
        if isWhole {
            if journal.old != nil { try exchangeDirectories(paths.live, paths.new) }
            try bring(journal.old, to: paths.old)
            return try bring(journal.new, to: paths.live)
        }
        try moveAll(from: paths.live, to: paths.old)
        try enter(.puttingIn)
        try moveAll(from: paths.new, to: paths.live)
    }

    /// Removes the staged data, so that everything is as before.
    ///
    /// If it throws, the phase is `staging`, because nothing else is left to undo.
    mutating func removeStaged() throws {
        journal.phase = .staging
        if try !isWhole || isOwnStage() { try fileSystem.remove(paths.new) }
        try removeEmptied()
        journal.phase = .settled
    }

    /// Whether `new` beside the stores directory is not another program's: until the journal names it, it is empty.
    private func isOwnStage() throws -> Bool {
        guard let info = try FileInfo.ifPresent(paths.new) else { return false }
        if let new = journal.new { return info.identity.inode == new.inode }
        return try info.kind == .directory && Directory.open(paths.new).names().isEmpty
    }

    /// Puts the previous data back, and returns the place where the refused data is kept.
    mutating func rollBack() throws -> FilePath {
        try tighten()
        if isWhole { try bring(journal.old, to: paths.old) }
        let refused = try chooseRefused()
        try enter(.takingOut)
        try giveBack()
        if isWhole {
            if journal.old != nil { try exchangeDirectories(paths.live, paths.old) }
            try bring(journal.new, to: refused)
        } else {
            if try FileInfo.ifPresent(refused) == nil {
                try fileSystem.move(paths.new, to: refused)
                try fileSystem.sync(paths.area)
            }
            try moveAll(from: paths.live, to: refused)
        }
        _ = try putBack()
        return refused
    }

    /// Completes a rollback whose refused data has been taken out; `nil` if there is no such data.
    private mutating func putBack() throws -> FilePath? {
        try enter(.puttingBack)
        if isWhole {
            try bring(journal.old, to: paths.live)
        } else {
            try moveAll(from: paths.old, to: paths.live)
        }
        try removeEmptied()
        journal.phase = .settled
        guard let refused = journal.refused(in: paths) else { return nil }
        return try FileInfo.ifPresent(refused) == nil ? nil : refused
    }

    /// Returns the place for the refused data, which the journal then records: the one in it, unless that was taken.
    private mutating func chooseRefused() throws -> FilePath {
        if let chosen = journal.refused(in: paths) {
            let inode = try Self.inode(chosen)
            if !isWhole || inode == nil || inode == journal.new?.inode { return chosen }
        }
        let free = try paths.vacant("FailedRestore")
        journal.refused = free.lastComponent?.string
        return free
    }

    /// Removes the previous data, because the restored data is good.
    ///
    /// If it throws, the next run tries again.
    ///
    /// - Returns: the place to which data was moved that could not be removed; `nil` if all was removed.
    mutating func removeReplaced() throws -> FilePath? {
        if isWhole, journal.old != nil, try Self.inode(paths.new) == journal.old?.inode {
            try bring(journal.old, to: paths.old)
        }
        // Another program's directory is left alone.
        let isOwn =
            try !isWhole || journal.old != nil && Self.inode(paths.old) == journal.old?.inode
        let hasAllKept = try isOwn && keep(sweeps: journal.phase != .cleaning)
        try enter(.cleaning)
        let leftover = isOwn ? try removeOld(isWhole: hasAllKept) : nil
        // It may still contain names that no restore puts in place.
        if !isWhole { try fileSystem.remove(paths.new) }
        journal.phase = .settled
        return leftover
    }

    /// Removes `old`; if that fails, or it has kept data that could not be moved, moves it out of the way.
    private func removeOld(isWhole: Bool) throws -> FilePath? {
        guard try FileInfo.ifPresent(paths.old) != nil else { return nil }
        if isWhole, (try? fileSystem.remove(paths.old)) != nil { return nil }
        let path = try paths.vacant("Old", from: 2)
        try fileSystem.move(paths.old, to: path)
        return path
    }

    /// Removes `old` after its names were moved out of the hidden directory; never if it still contains some.
    private func removeEmptied() throws {
        guard !isWhole, try FileInfo.ifPresent(paths.old) != nil else { return }
        guard try isMovedOut(of: paths.old) else { throw lost() }
        try fileSystem.remove(paths.old)
    }
}

// MARK: - After a crash

extension NameSwap {
    /// The end of an interrupted restore.
    enum Recovery {
        /// The previous data is in place again; the error is the reason, unless it was the crash alone.
        case undone(refused: FilePath?, since: (any Error)?)
        /// The restored data is in place.
        case finished(leftover: FilePath?)
        /// Everything was already done.
        case settled
    }

    /// Finishes or undoes an interrupted restore, according to the restore journal.
    ///
    /// - Parameter judge: decides whether the data in place stays.
    /// - Returns: the end of the restore.
    /// - Throws: `RestoreError.cannotRecover` if the journal or the directories make no sense; `FileError` if a step
    ///   fails; the reason if the judge is undecided. The journal still exists then.
    mutating func recover(judge: Verdict.Judge) throws -> Recovery {
        guard journal.phase != .settled else { return .settled }
        try tighten()
        do {
            return try isWhole ? recoverWhole(judge) : recoverNames(judge)
        } catch FileError.exists(let path) {
            throw obstructed(by: path)
        } catch FileError.notA(.directory, let path) {
            throw obstructed(by: path)
        }
    }

    private mutating func recoverWhole(_ judge: Verdict.Judge) throws -> Recovery {
        let live = try Self.inode(paths.live)
        let isOld = live == journal.old?.inode
        let isNew = live != nil && live == journal.new?.inode
        switch journal.phase {
        case .staging where isOld: break
        case .settingAside where isNew: return try carryOut(judge(journal, .inPlace))
        case .settingAside where isOld || live == nil: try bring(journal.old, to: paths.live)
        case .takingOut where isNew: return try carryOut(judge(journal, .refused))
        case .takingOut where isOld || live == nil:
            if try Self.inode(paths.old) == journal.new?.inode {
                let refused = try chooseRefused()
                try enter(.takingOut)
                try bring(journal.new, to: refused)
            }
            return .undone(refused: try putBack(), since: nil)
        case .puttingBack where isOld || live == nil:
            return .undone(refused: try putBack(), since: nil)
        case .cleaning where isNew: return .finished(leftover: try removeReplaced())
        case .staging, .settingAside, .puttingIn, .takingOut, .puttingBack, .cleaning, .settled:
            throw lost()
        }
        try removeStaged()
        return .undone(refused: nil, since: nil)
    }

    private mutating func recoverNames(_ judge: Verdict.Judge) throws -> Recovery {
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
        }
        try removeStaged()
        return .undone(refused: nil, since: nil)
    }

    /// Carries out a verdict on the data in place; an undecided one is thrown, and changes nothing.
    private mutating func carryOut(_ verdict: Verdict) throws -> Recovery {
        switch verdict {
        case .keep: .finished(leftover: try removeReplaced())
        case .rollBack(let why): .undone(refused: try rollBack(), since: why)
        case .undecided(let why): throw why
        }
    }

    private func obstructed(by path: FilePath) -> RestoreError {
        .cannotRecover(
            paths.journal,
            reason:
                "'\(printable(path))' was made meanwhile; what belongs there is in '\(printable(paths.area))'"
        )
    }
}

// MARK: - The restore journal

extension NameSwap {
    /// Announces a phase in the restore journal.
    private mutating func enter(_ phase: RestoreJournal.Phase) throws {
        journal.phase = phase
        try write()
    }

    /// Writes the restore journal and flushes it to the disk.
    func write() throws {
        // A power loss must not undo earlier moves and removals.
        if journal.phase == .settled { try fileSystem.sync(paths.area) }
        try journal.write(to: paths.journal, with: fileSystem)
    }

    /// Records for a recovery whether the application is stopped.
    mutating func noteApplication(isStopped: Bool) throws {
        journal.isApplicationStopped = isStopped
        try write()
    }

    /// Removes the restore journal, and flushes that and all steps before to the disk.
    ///
    /// Does nothing unless everything is settled.
    ///
    /// The directory that was created for the journal is removed too, unless it contains refused data.
    func removeJournal() throws {
        guard journal.phase == .settled else { return }
        // A power loss must not undo moves and removals after the restore journal is gone.
        try fileSystem.sync(paths.area)
        try fileSystem.remove(paths.journal)
        let draft = LocalFileSystem.draft(of: paths.journal)
        if try FileInfo.ifPresent(draft) != nil { try fileSystem.remove(draft) }
        try fileSystem.sync(paths.area)
        guard !isWhole, try Directory.open(paths.area).names().isEmpty else { return }
        try fileSystem.remove(paths.area)
        try fileSystem.sync(paths.live)
    }
}
