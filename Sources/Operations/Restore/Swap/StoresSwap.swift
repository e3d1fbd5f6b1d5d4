internal import Files
internal import SystemPackage

/// Puts a staged directory in the place of the stores directory as a whole, and back.
///
/// Every rename is on the disk before the next. The states that a crash can leave, and what `recover()` makes of them:
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
///     cleaning      new   -     old     remove old                       → new
///     settled       any   -     -       nothing                          → as it is
///
/// Where there was no stores directory, `old` is nowhere, and removing puts it back.
struct StoresSwap: RestoreSwap {
    let paths: RestorePaths
    let fileSystem: any FileSystem
    var journal: RestoreJournal

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
        do {
            try write()
        } catch {
            // Where this fails too, the next run does it.
            try? forget()
            throw error
        }
    }

    private init(_ paths: RestorePaths, _ journal: RestoreJournal, _ fileSystem: any FileSystem) {
        self.paths = paths
        self.journal = journal
        self.fileSystem = fileSystem
    }

    func write() throws {
        try journal.write(to: paths.journal, with: fileSystem)
    }

    mutating func stage() throws {
        try fileSystem.createDirectory(paths.new)
        journal.new = try FileInfo(of: paths.new).identity
        try write()
    }

    func abandon() throws {
        try removeStaged()
        try forget()
    }

    private func removeStaged() throws {
        guard let info = try FileInfo.ifPresent(paths.new) else { return }
        // What somebody else calls so by now stays. Before the journal names it, it is empty.
        let isOwn =
            if let new = journal.new {
                info.identity.inode == new.inode
            } else {
                try info.kind == .directory && Directory.open(paths.new).names().isEmpty
            }
        guard isOwn else { return }
        try fileSystem.remove(paths.new)
    }

    mutating func exchange(stores: Int) throws {
        journal.phase = .swapping
        journal.stores = stores
        try write()
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

    mutating func rollBack() throws -> FilePath {
        let refused = try paths.vacant("FailedRestore")
        journal.phase = .rollingBack
        journal.refused = refused.lastComponent?.string
        try write()
        if journal.old == nil {
            try move(paths.live, to: refused)
        } else if try fileSystem.swap(paths.live, paths.old) {
            try fileSystem.sync(paths.area)
            try move(paths.old, to: refused)
        } else {
            try move(paths.live, to: refused)
            try move(paths.old, to: paths.live)
        }
        return refused
    }

    mutating func finish() throws -> FilePath? {
        journal.phase = .cleaning
        try write()
        var leftover: FilePath?
        do {
            // What somebody else calls so by now stays.
            if let old = journal.old?.inode, try Self.inode(paths.old) == old {
                try fileSystem.remove(paths.old)
            }
        } catch {
            let path = try paths.vacant("Old", from: 2)
            try move(paths.old, to: path)
            leftover = path
        }
        try settle()
        return leftover
    }

    private func move(_ path: FilePath, to newPath: FilePath) throws {
        try fileSystem.move(path, to: newPath)
        try fileSystem.sync(paths.area)
    }

    func forget() throws {
        // What was moved and removed before must not come back without its journal.
        try fileSystem.sync(paths.area)
        try fileSystem.remove(paths.journal)
        try fileSystem.sync(paths.area)
    }

    // MARK: - After a crash

    static func recover(
        _ paths: RestorePaths,
        with fileSystem: any FileSystem,
        judge: RestoreJudge
    ) throws -> RestoreRecovery? {
        guard let journal = try RestoreJournal.read(paths.journal) else { return nil }
        var swap = StoresSwap(paths, journal, fileSystem)
        let live = try inode(paths.live)
        switch journal.phase {
        case .staging:
            guard live == journal.old?.inode else { throw swap.lost() }
            return try swap.undo()
        case .swapping where live == journal.new?.inode && live != nil:
            return try swap.completeExchange(judge)
        case .swapping where live == journal.old?.inode:
            return try swap.undo()
        case .swapping where live == nil:
            try swap.bringOldBack()
            return try swap.undo()
        case .rollingBack:
            return try swap.completeRollBack(live: live, judge)
        case .cleaning where live == journal.new?.inode:
            let leftover = try swap.finish()
            return swap.ended(.finished(leftover: leftover))
        case .settled:
            return swap.ended(.settled)
        case .swapping, .cleaning, .settingAside, .puttingIn, .takingOut, .puttingBack:
            throw swap.lost()
        }
    }

    private mutating func undo() throws -> RestoreRecovery {
        try removeStaged()
        try settle()
        return ended(.undone(refused: nil, since: nil))
    }

    private func ended(_ end: RestoreRecovery.End) -> RestoreRecovery {
        RestoreRecovery(swap: self, end: end)
    }

    private mutating func completeExchange(_ judge: RestoreJudge) throws -> RestoreRecovery {
        // Asked first: where it cannot be told, nothing moves.
        let refusal = try judge.refusal(journal)
        if let refusal { try judge.allowsRollBack(journal, refusal) }
        if journal.old != nil, try Self.inode(paths.new) == journal.old?.inode {
            try move(paths.new, to: paths.old)
        }
        if let refusal {
            let refused = try rollBack()
            try settle()
            return ended(.undone(refused: refused, since: refusal))
        }
        let leftover = try finish()
        return ended(.finished(leftover: leftover))
    }

    private mutating func completeRollBack(
        live: UInt64?,
        _ judge: RestoreJudge
    ) throws -> RestoreRecovery {
        if live != nil, live == journal.new?.inode {
            try judge.allowsRollBack(journal, nil)
            let refused = try rollBack()
            try settle()
            return ended(.undone(refused: refused, since: nil))
        }
        var refused: FilePath?
        if live == nil, journal.old != nil {
            try bringOldBack()
        } else if live == journal.old?.inode, try Self.inode(paths.old) == journal.new?.inode,
            journal.new != nil
        {
            let path = try paths.vacant("FailedRestore")
            try move(paths.old, to: path)
            refused = path
        } else if live != journal.old?.inode {
            throw lost()
        }
        try refused = refused ?? journal.keptRefusal(in: paths)
        try settle()
        return ended(.undone(refused: refused, since: nil))
    }

    private func bringOldBack() throws {
        guard let old = journal.old else { return }
        guard try Self.inode(paths.old) == old.inode else { throw lost() }
        try move(paths.old, to: paths.live)
    }

    /// A directory's inode, which a rename keeps and a new start of the system too; the number of its
    /// device may then be another, and is the same for all directories here.
    private static func inode(_ path: FilePath) throws -> UInt64? {
        try FileInfo.ifPresent(path)?.identity.inode
    }

    private func lost() -> OperationError {
        .cannotRecover(paths.journal, reason: "the directories are not where it says")
    }
}
