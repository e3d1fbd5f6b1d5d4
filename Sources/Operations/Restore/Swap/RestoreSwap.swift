internal import Files
internal import SystemPackage

/// Exchanges the staged data and that of the stores directory, and undoes it.
///
/// Every step is announced in the restore journal before it is made, so that after a crash at any of
/// them the next run can tell what is where.
///
/// A restore ends in three steps: the data that is not to stay goes (`removeStaged`, `rollBack` or
/// `removeReplaced`), the application is started, and `removeJournal` is last. In between, the phase is
/// `settled`.
protocol RestoreSwap: Sendable {
    var paths: RestorePaths { get }
    var fileSystem: any FileSystem { get }
    /// Everything that has to be known after a crash.
    var journal: RestoreJournal { get set }

    init(paths: RestorePaths, fileSystem: any FileSystem, journal: RestoreJournal)

    /// Announces the restore, and makes the directory to stage in; if it throws, the caller removes that
    /// and the restore journal.
    mutating func stage() throws

    /// Puts the staged data in place, and moves the data there to `old`; if it throws, the restore journal
    /// says what there is to recover, and how many stores were staged.
    mutating func exchange(stores: Int) throws

    /// Removes the staged data: all is as it was. If it throws, the phase is `staging`, since nothing else
    /// is left to undo.
    mutating func removeStaged() throws

    /// Puts back the data from before, and returns where the refused data is kept.
    mutating func rollBack() throws -> FilePath

    /// Removes the data from before, since the restored data is good; if it throws, the next run tries again.
    ///
    /// Returns where data was put that could not be removed, so that it is in nobody's way.
    mutating func removeReplaced() throws -> FilePath?

    /// Finishes or undoes a restore that was interrupted, as the restore journal says.
    ///
    /// - Parameter judge: says whether the data in place stays there.
    /// - Returns: how it ended.
    /// - Throws: `RestoreError.cannotRecover` if the journal or the directories make no sense;
    ///   `FileError` if a step fails; why the judge is undecided. The journal is then still there.
    mutating func recover(judge: Verdict.Judge) throws -> RestoreRecovery
}

extension RestoreSwap {
    /// Prepares a restore, and changes nothing; throws `RestoreError.inTheWay` if a name is taken.
    init(_ paths: RestorePaths, backup: String, with fileSystem: any FileSystem) throws {
        if let info = try FileInfo.ifPresent(paths.area), info.kind != .directory,
            let leftover = try Leftover(at: paths.area)
        {
            throw RestoreError.inTheWay(leftover)
        }
        for path in [paths.new, paths.old] {
            if let leftover = try Leftover(at: path) { throw RestoreError.inTheWay(leftover) }
        }
        let journal = RestoreJournal(phase: .staging, backup: backup)
        self.init(paths: paths, fileSystem: fileSystem, journal: journal)
    }

    /// Announces a step in the restore journal.
    mutating func enter(_ phase: RestoreJournal.Phase) throws {
        journal.phase = phase
        try write()
    }

    /// Writes the restore journal, which is then on the disk.
    func write() throws {
        // A loss of power must not undo moves and removals before it.
        if journal.phase == .settled { try fileSystem.sync(paths.area) }
        try journal.write(to: paths.journal, with: fileSystem)
    }

    /// Remembers whether the application is stopped, for a recovery.
    mutating func noteApplication(isStopped: Bool) throws {
        journal.isApplicationStopped = isStopped ? true : nil
        try write()
    }

    /// Removes the restore journal, and has that and all before it on the disk; does nothing unless all
    /// is settled.
    ///
    /// The directory that was made for it goes too, unless something is kept in it.
    func removeJournal() throws {
        guard journal.phase == .settled else { return }
        // A loss of power must not undo moves and removals once the restore journal is gone.
        try fileSystem.sync(paths.area)
        try fileSystem.remove(paths.journal)
        let draft = LocalFileSystem.draft(of: paths.journal)
        if try FileInfo.ifPresent(draft) != nil { try fileSystem.remove(draft) }
        try fileSystem.sync(paths.area)
        guard paths.layout == .inside, try Directory.open(paths.area).names().isEmpty else {
            return
        }
        try fileSystem.remove(paths.area)
        try fileSystem.sync(paths.live)
    }

    /// Removes `old`; if that fails, gives it a name under which it is in nobody's way, and returns that.
    ///
    /// - Parameter isWhole: whether all of it that was to stay is in the stores directory; if not, it is kept.
    /// - Returns: where it is now.
    /// - Throws: `FileError` if it can neither be removed nor renamed.
    func removeOld(isWhole: Bool) throws -> FilePath? {
        guard try FileInfo.ifPresent(paths.old) != nil else { return nil }
        if isWhole, (try? fileSystem.remove(paths.old)) != nil { return nil }
        let path = try paths.vacant("Old", from: 2)
        try fileSystem.move(paths.old, to: path)
        return path
    }

    /// Carries out a verdict on the data that is in place; an undecided one is thrown, and changes nothing.
    mutating func carryOut(_ verdict: Verdict) throws -> RestoreRecovery {
        switch verdict {
        case .keep: .finished(leftover: try removeReplaced())
        case .rollBack(let why): .undone(refused: try rollBack(), since: why)
        case .undecided(let why): throw why
        }
    }
}

extension RestorePaths.Layout {
    /// The swap of this layout.
    var swap: any RestoreSwap.Type {
        switch self {
        case .beside: StoresSwap.self
        case .inside: ChildrenSwap.self
        }
    }
}

/// The end of an interrupted restore.
enum RestoreRecovery {
    /// The data from before it is in place again; the error is why, if it was not for the crash alone.
    case undone(refused: FilePath?, since: (any Error)?)
    /// The restored data is in place.
    case finished(leftover: FilePath?)
    /// That had been done already.
    case settled
}
