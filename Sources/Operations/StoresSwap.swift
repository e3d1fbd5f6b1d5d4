internal import Files
internal import SystemPackage

/// Puts a staged directory in the place of the stores directory, and back.
///
/// Every step is announced in the journal before it is made, and every rename is on the disk before
/// the next. The states that a crash can leave, and what `recover()` makes of them:
///
///     phase         live  new   old     then
///     staging       old   any   -       remove new                       → old
///     swapping      old   new   -       remove new                       → old
///     swapping      new   old   -       move new to old; check again     → new, or roll back
///     swapping      new   -     old     check again                      → new, or roll back
///     swapping      -     new   old     move old back, remove new        → old
///     rolling back  new   -     old     roll back                        → old
///     rolling back  old   -     new     keep what is in old as refused   → old
///     rolling back  -     -     old     move old back                    → old
///     cleaning      new   -     old     remove old                       → new
///
/// Where there was no stores directory, `old` is nowhere, and removing puts it back.
struct StoresSwap {
    let paths: RestorePaths
    let fileSystem: any FileSystem
    var journal: RestoreJournal

    /// Announces the restore.
    init(_ paths: RestorePaths, backup: String, with fileSystem: any FileSystem) throws {
        self.paths = paths
        self.fileSystem = fileSystem
        journal = RestoreJournal(
            phase: .staging,
            old: try FileInfo.ifPresent(paths.live)?.identity,
            backup: backup
        )
        for path in [paths.new, paths.old] where try FileInfo.ifPresent(path) != nil {
            throw OperationError.inTheWay(path)
        }
        try write()
    }

    private init(_ paths: RestorePaths, _ journal: RestoreJournal, _ fileSystem: any FileSystem) {
        self.paths = paths
        self.journal = journal
        self.fileSystem = fileSystem
    }

    private func write() throws {
        try journal.write(to: paths.journal, with: fileSystem)
    }

    /// Makes the directory to stage in.
    mutating func stage() throws {
        try fileSystem.createDirectory(paths.new)
        journal.new = try FileInfo(of: paths.new).identity
        try write()
    }

    /// Gives up before the exchange: all is as it was.
    func abandon() throws {
        try fileSystem.remove(paths.new)
        try fileSystem.remove(paths.journal)
        try fileSystem.sync(paths.parent)
    }

    /// Puts the staged directory in place; what was there is then in `old`.
    mutating func exchange() throws {
        journal.phase = .swapping
        try write()
        guard journal.old != nil else {
            try move(paths.new, to: paths.live)
            return
        }
        if try fileSystem.swap(paths.live, paths.new) {
            try fileSystem.sync(paths.parent)
            try move(paths.new, to: paths.old)
        } else {
            try move(paths.live, to: paths.old)
            try move(paths.new, to: paths.live)
        }
    }

    /// Puts back what was there.
    ///
    /// - Returns: where what was refused is kept.
    mutating func rollBack() throws -> FilePath {
        journal.phase = .rollingBack
        try write()
        let refused = try paths.vacant("FailedRestore")
        if journal.old == nil {
            try move(paths.live, to: refused)
        } else if try fileSystem.swap(paths.live, paths.old) {
            try fileSystem.sync(paths.parent)
            try move(paths.old, to: refused)
        } else {
            try move(paths.live, to: refused)
            try move(paths.old, to: paths.live)
        }
        try removeJournal()
        return refused
    }

    /// Removes what was there: what was restored is good.
    ///
    /// - Returns: where what could not be removed was put, so that it is in nobody's way.
    /// - Throws: `FileError`; the next run then tries again.
    @discardableResult
    mutating func finish() throws -> FilePath? {
        journal.phase = .cleaning
        try write()
        var leftover: FilePath?
        do {
            try fileSystem.remove(paths.old)
        } catch {
            let path = try paths.vacant("Old", from: 2)
            try move(paths.old, to: path)
            leftover = path
        }
        try removeJournal()
        return leftover
    }

    private func move(_ path: FilePath, to newPath: FilePath) throws {
        try fileSystem.move(path, to: newPath)
        try fileSystem.sync(paths.parent)
    }

    private func removeJournal() throws {
        try fileSystem.remove(paths.journal)
        try fileSystem.sync(paths.parent)
    }

    // MARK: - After a crash

    /// What became of an interrupted restore.
    enum Recovery {
        /// What was there before is there again.
        case undone(backup: String, refused: FilePath?)
        /// What was restored is in place.
        case finished(backup: String, leftover: FilePath?)
    }

    /// Finishes or undoes the restore that the journal tells of.
    ///
    /// - Parameters:
    ///   - paths: where.
    ///   - fileSystem: what renames and removes.
    ///   - check: whether the stores in the live directory open; throws where they do not.
    /// - Returns: `nil` where there is nothing to do.
    /// - Throws: `OperationError.cannotRecover` where the journal or the directories make no sense;
    ///   `FileError` where a step fails. The journal is then still there.
    static func recover(
        _ paths: RestorePaths,
        with fileSystem: any FileSystem,
        check: () throws -> Void
    ) throws -> Recovery? {
        guard let journal = try RestoreJournal.read(paths.journal) else { return nil }
        var swap = StoresSwap(paths, journal, fileSystem)
        let live = try FileInfo.ifPresent(paths.live)?.identity
        switch journal.phase {
        case .staging:
            guard live == journal.old else { throw swap.lost() }
            return try swap.undo()
        case .swapping where live == journal.new && live != nil:
            return try swap.completeExchange(check: check)
        case .swapping where live == journal.old:
            return try swap.undo()
        case .swapping where live == nil:
            try swap.bringOldBack()
            return try swap.undo()
        case .rollingBack:
            return try swap.completeRollBack(live: live)
        case .cleaning where live == journal.new:
            return .finished(backup: journal.backup, leftover: try swap.finish())
        case .swapping, .cleaning:
            throw swap.lost()
        }
    }

    private func undo() throws -> Recovery {
        try abandon()
        return .undone(backup: journal.backup, refused: nil)
    }

    private mutating func completeExchange(check: () throws -> Void) throws -> Recovery {
        if journal.old != nil, try FileInfo.ifPresent(paths.new)?.identity == journal.old {
            try move(paths.new, to: paths.old)
        }
        do {
            try check()
        } catch {
            return .undone(backup: journal.backup, refused: try rollBack())
        }
        return .finished(backup: journal.backup, leftover: try finish())
    }

    private mutating func completeRollBack(live: FileInfo.Identity?) throws -> Recovery {
        if live != nil, live == journal.new {
            return .undone(backup: journal.backup, refused: try rollBack())
        }
        var refused: FilePath?
        if live == nil, journal.old != nil {
            try bringOldBack()
        } else if live == journal.old, try FileInfo.ifPresent(paths.old)?.identity == journal.new,
            journal.new != nil
        {
            let path = try paths.vacant("FailedRestore")
            try move(paths.old, to: path)
            refused = path
        } else if live != journal.old {
            throw lost()
        }
        try removeJournal()
        return .undone(backup: journal.backup, refused: refused)
    }

    private func bringOldBack() throws {
        guard let old = journal.old else { return }
        guard try FileInfo.ifPresent(paths.old)?.identity == old else { throw lost() }
        try move(paths.old, to: paths.live)
    }

    private func lost() -> OperationError {
        .cannotRecover(paths.live, reason: "the directories are not where the journal says")
    }
}
