internal import Files
internal import SystemPackage

/// An exchange of the staged data with that of the stores directory, which can be undone.
///
/// The restore journal announces every step before it is made. So after a crash at any step, the next run knows where
/// the data is.
///
/// A restore ends in three steps: the data that must not stay is removed (`removeStaged`, `rollBack` or
/// `removeReplaced`), the application is started, and `removeJournal` comes last. In between, the phase is `settled`.
protocol RestoreSwap: Sendable {
    var paths: RestorePaths { get }
    var fileSystem: any FileSystem { get }
    /// The facts that are needed after a crash.
    var journal: RestoreJournal { get set }

    init(paths: RestorePaths, fileSystem: any FileSystem, journal: RestoreJournal)

    /// Announces the restore, and creates the directory to stage in. If it throws, the caller removes that directory
    /// and the restore journal.
    mutating func stage() throws

    /// Puts the staged data in place, and moves the present data to `old`. If it throws, the restore journal records
    /// what there is to recover, and how many stores were staged.
    mutating func exchange(stores: Int) throws

    /// Removes the staged data, so that everything is as before. If it throws, the phase is `staging`, because nothing
    /// else is left to undo.
    mutating func removeStaged() throws

    /// Puts the previous data back, and returns the place where the refused data is kept.
    mutating func rollBack() throws -> FilePath

    /// Removes the previous data, because the restored data is good. If it throws, the next run tries again.
    ///
    /// - Returns: the place to which data was moved that could not be removed; `nil` if all was removed.
    mutating func removeReplaced() throws -> FilePath?

    /// Finishes or undoes an interrupted restore, according to the restore journal.
    ///
    /// - Parameter judge: decides whether the data in place stays.
    /// - Returns: the end of the restore.
    /// - Throws: `RestoreError.cannotRecover` if the journal or the directories make no sense; `FileError` if a step
    ///   fails; the reason if the judge is undecided. The journal still exists then.
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

    /// Writes the restore journal and flushes it to the disk.
    func write() throws {
        // A power loss must not undo earlier moves and removals.
        if journal.phase == .settled { try fileSystem.sync(paths.area) }
        try journal.write(to: paths.journal, with: fileSystem)
    }

    /// Records for a recovery whether the application is stopped.
    mutating func noteApplication(isStopped: Bool) throws {
        journal.isApplicationStopped = isStopped ? true : nil
        try write()
    }

    /// Removes the restore journal, and flushes that and all steps before to the disk.
    ///
    /// Does nothing unless everything is settled.
    ///
    /// The directory that was created for the journal is removed too, unless it contains kept data.
    func removeJournal() throws {
        guard journal.phase == .settled else { return }
        // A power loss must not undo moves and removals after the restore journal is gone.
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

    /// Removes `old`; if that fails, moves it out of the way.
    ///
    /// - Parameter isWhole: whether all kept data of `old` is in the stores directory; if not, `old` is not removed.
    /// - Returns: the place to which `old` was moved; `nil` if it was removed.
    /// - Throws: `FileError` if it can be neither removed nor renamed.
    func removeOld(isWhole: Bool) throws -> FilePath? {
        guard try FileInfo.ifPresent(paths.old) != nil else { return nil }
        if isWhole, (try? fileSystem.remove(paths.old)) != nil { return nil }
        let path = try paths.vacant("Old", from: 2)
        try fileSystem.move(paths.old, to: path)
        return path
    }

    /// Carries out a verdict on the data in place; an undecided one is thrown, and changes nothing.
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
    /// The previous data is in place again; the error is the reason, unless it was the crash alone.
    case undone(refused: FilePath?, since: (any Error)?)
    /// The restored data is in place.
    case finished(leftover: FilePath?)
    /// Everything was already done.
    case settled
}
