internal import Files
internal import SystemPackage

/// Puts what was staged in the place of what is in the stores directory, and back.
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
    /// All that has to be known after a crash.
    var journal: RestoreJournal { get set }

    init(paths: RestorePaths, fileSystem: any FileSystem, journal: RestoreJournal)

    /// Announces the restore, and makes the directory to stage in.
    ///
    /// - Throws: `FileError`; what was staged is then to be removed, and the restore journal.
    mutating func stage() throws

    /// Puts what was staged in place; what was there is then in `old`.
    ///
    /// - Parameter stores: how many stores were staged and checked, for whoever has to recover.
    /// - Throws: `FileError`; the restore journal then says what there is to recover.
    mutating func exchange(stores: Int) throws

    /// Removes what was staged: all is as it was.
    ///
    /// - Throws: `FileError`; the phase is `staging` then, since nothing else is left to undo.
    mutating func removeStaged() throws

    /// Puts back what was there.
    ///
    /// - Returns: where what was refused is kept.
    mutating func rollBack() throws -> FilePath

    /// Removes what was there, since what was restored is good.
    ///
    /// - Returns: where what could not be removed was put, so that it is in nobody's way.
    /// - Throws: `FileError`; the next run then tries again.
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
    /// Prepares a restore; nothing is changed.
    ///
    /// - Throws: `RestoreError.inTheWay`; `FileError`.
    init(_ paths: RestorePaths, backup: String, with fileSystem: any FileSystem) throws {
        if let info = try FileInfo.ifPresent(paths.area), info.kind != .directory {
            throw RestoreError.inTheWay(paths.area)
        }
        for path in [paths.new, paths.old] where try FileInfo.ifPresent(path) != nil {
            throw RestoreError.inTheWay(path)
        }
        let journal = RestoreJournal(phase: .staging, backup: backup)
        self.init(paths: paths, fileSystem: fileSystem, journal: journal)
    }

    /// Has what the restore journal says on the disk.
    func write() throws {
        // Moves and removals before it must not be undone by a loss of power.
        if journal.phase == .settled { try fileSystem.sync(paths.area) }
        try journal.write(to: paths.journal, with: fileSystem)
    }

    /// Remembers whether the application is stopped, for whoever has to recover.
    mutating func noteApplication(isStopped: Bool) throws {
        journal.isApplicationStopped = isStopped ? true : nil
        try write()
    }

    /// Removes the restore journal, and has that and all before it on the disk; does nothing unless all
    /// is settled.
    ///
    /// The directory that it is in goes too, if it was made for it and nothing is kept in it.
    func removeJournal() throws {
        guard journal.phase == .settled else { return }
        // Moves and removals must not be undone by a loss of power once the restore journal is gone.
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

    /// Does what a verdict says of the data that is in place.
    ///
    /// - Throws: `FileError`; why the verdict is undecided: all is as it was found then.
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
