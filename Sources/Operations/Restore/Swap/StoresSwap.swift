internal import Files
internal import SystemPackage

/// A swap that exchanges a staged directory with the stores directory as a whole, and back.
///
/// The restore journal beside the stores directory (`.Stores_Restore.json`) is on the disk before each step. Each
/// rename is on the disk before the next. The journal identifies both directories by inode, which a rename keeps; the
/// number of a device may change at a restart. It also records how many stores were staged: as many must open when
/// they are checked. These are the states that a crash can leave, and what `recover` does with them:
///
///     phase         live  new   old     then
///     staging       old   any   -       remove new                       → old
///     swapping      old   new   -       remove new                       → old
///     swapping      new   old   -       check again; move new to old     → new, or roll back
///     swapping      new   -     old     check again                      → new, or roll back
///     swapping      -     new   old     move old back, remove new        → old
///     rolling back  new   -     old     roll back                        → old
///     rolling back  old   -     new     keep what is in old as refused   → old
///     rolling back  -     -     old     move old back                    → old
///     cleaning      new   -     any     remove old, or put it aside      → new
///     settled       any   -     -       say that the application is to be started
///
/// To *check again* is to read the stores as a backup does (see `Verdict.afterCrash`): an application may have opened
/// them since.
///
/// If there was no stores directory, `old` does not exist, and removing the new one undoes the restore. A directory
/// called `new` or `old` that is not the one in the restore journal is left alone. At the end, the journal is
/// removed; without one, there is nothing to recover.
struct StoresSwap: RestoreSwap {
    let paths: RestorePaths
    let fileSystem: any FileSystem
    var journal: RestoreJournal

    mutating func stage() throws {
        journal.old = try FileInfo.ifPresent(paths.live)?.identity
        try write()
        try fileSystem.createDirectory(paths.new)
        journal.new = try FileInfo(of: paths.new).identity
        try write()
    }

    mutating func exchange(stores: Int) throws {
        journal.stores = stores
        try enter(.swapping)
        guard journal.old != nil else {
            try move(paths.new, to: paths.live)
            return
        }
        if try fileSystem.swap(paths.live, paths.new) {
            try fileSystem.sync(paths.area)
            try move(paths.new, to: paths.old)
        } else {
            try move(paths.live, to: paths.old)
            try move(paths.new, to: paths.live)
        }
    }

    mutating func removeStaged() throws {
        journal.phase = .staging
        if let info = try FileInfo.ifPresent(paths.new) {
            // Until the journal names it, it is empty. Another program's directory is left alone.
            let isOwn =
                if let new = journal.new {
                    info.identity.inode == new.inode
                } else {
                    try info.kind == .directory && Directory.open(paths.new).names().isEmpty
                }
            if isOwn { try fileSystem.remove(paths.new) }
        }
        journal.phase = .settled
    }

    mutating func rollBack() throws -> FilePath {
        try completeExchange()
        let refused = try paths.vacant("FailedRestore")
        journal.refused = refused.lastComponent?.string
        try enter(.rollingBack)
        try giveBack()
        if journal.old == nil {
            try move(paths.live, to: refused)
        } else if try fileSystem.swap(paths.live, paths.old) {
            try fileSystem.sync(paths.area)
            try move(paths.old, to: refused)
        } else {
            try move(paths.live, to: refused)
            try move(paths.old, to: paths.live)
        }
        journal.phase = .settled
        return refused
    }

    mutating func removeReplaced() throws -> FilePath? {
        try completeExchange()
        var leftover: FilePath?
        // Another program's directory is left alone.
        if let old = journal.old?.inode, try Self.inode(paths.old) == old {
            let isWhole = try keep(sweeps: journal.phase != .cleaning)
            try enter(.cleaning)
            leftover = try removeOld(isWhole: isWhole)
        } else {
            try enter(.cleaning)
        }
        journal.phase = .settled
        return leftover
    }

    /// Renames the previous data to `old`, if a crash came before that.
    private func completeExchange() throws {
        guard let old = journal.old?.inode, try Self.inode(paths.new) == old else { return }
        try move(paths.new, to: paths.old)
    }

    private func move(_ path: FilePath, to newPath: FilePath) throws {
        try fileSystem.move(path, to: newPath)
        try fileSystem.sync(paths.area)
    }

    // MARK: - After a crash

    mutating func recover(judge: Verdict.Judge) throws -> RestoreRecovery {
        let live = try Self.inode(paths.live)
        let isOld = live == journal.old?.inode
        let isNew = live != nil && live == journal.new?.inode
        switch journal.phase {
        case .staging where isOld, .swapping where isOld: break
        case .swapping where isNew: return try carryOut(judge(journal, .inPlace))
        case .swapping where live == nil: try bringOldBack()
        case .rollingBack where isNew: return try carryOut(judge(journal, .refused))
        case .rollingBack:
            return .undone(refused: try completeRollBack(isOld: isOld), since: nil)
        case .cleaning where isNew: return .finished(leftover: try removeReplaced())
        case .settled: return .settled
        case .staging, .swapping, .cleaning, .settingAside, .puttingIn, .takingOut, .puttingBack:
            throw lost()
        }
        try removeStaged()
        return .undone(refused: nil, since: nil)
    }

    /// Completes a rollback whose refused data was taken out of its place.
    private mutating func completeRollBack(isOld: Bool) throws -> FilePath? {
        var refused: FilePath?
        if !isOld {
            try bringOldBack()
        } else if let new = journal.new?.inode, try Self.inode(paths.old) == new {
            let path = try paths.vacant("FailedRestore")
            try move(paths.old, to: path)
            refused = path
        }
        try refused = refused ?? journal.keptRefusal(in: paths)
        journal.phase = .settled
        return refused
    }

    private func bringOldBack() throws {
        guard let old = journal.old?.inode, try Self.inode(paths.live) == nil,
            try Self.inode(paths.old) == old
        else { throw lost() }
        try move(paths.old, to: paths.live)
    }

    /// Returns a directory's inode, which renames and restarts of the system keep.
    ///
    /// The number of its device may change at a restart, and is the same for all directories here.
    private static func inode(_ path: FilePath) throws -> UInt64? {
        try FileInfo.ifPresent(path)?.identity.inode
    }

    private func lost() -> RestoreError {
        .cannotRecover(paths.journal, reason: "the directories are not where it says")
    }
}
