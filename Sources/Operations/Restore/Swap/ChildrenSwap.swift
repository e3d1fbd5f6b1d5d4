internal import Files
internal import Stores
internal import SystemPackage

/// Puts what was staged in a stores directory in the place of what else is in it, name by name, for
/// a directory that cannot change places itself.
///
/// The journal says in which direction names move, so that after a crash it is known of every name
/// what it belongs to. `area` is the hidden directory that holds the journal and the others:
///
///     phase          live         new          old          then
///     staging        old          any or -     empty or -   remove new                  → old
///     setting aside  part of old  new          rest of old  move old back, remove new   → old
///     putting in     part of new  rest of new  old          move new in; check          → new, or roll back
///     taking out     rest of new  part of new  old          move the rest out; put back → old
///     putting back   part of old  new or -     rest of old  move old back; keep new     → old
///     cleaning       new          -            any or -     remove old                  → new
///     settled        any          -            -            nothing                     → as it is
///
/// A name is missing from the directory for a moment, which no system can spare us here. So that an
/// application that starts in such a moment finds no log without its database (SQLite would delete
/// that), names move in in the order of their bytes, and out in the opposite one.
struct ChildrenSwap: RestoreSwap {
    let paths: RestorePaths
    let fileSystem: any FileSystem
    var journal: RestoreJournal

    init(_ paths: RestorePaths, backup: String, with fileSystem: any FileSystem) throws {
        self.paths = paths
        self.fileSystem = fileSystem
        journal = RestoreJournal(phase: .staging, backup: backup)
        if let info = try FileInfo.ifPresent(paths.area), info.kind != .directory {
            throw OperationError.inTheWay(paths.area)
        }
        for path in [paths.new, paths.old] where try FileInfo.ifPresent(path) != nil {
            throw OperationError.inTheWay(path)
        }
        if try FileInfo.ifPresent(paths.area) == nil {
            try fileSystem.createDirectory(paths.area)
        }
        do {
            try fileSystem.sync(paths.live)
            try enter(.staging)
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

    mutating func stage() throws {
        try fileSystem.createDirectory(paths.new)
    }

    func abandon() throws {
        try removeStaged()
        try forget()
    }

    private func removeStaged() throws {
        try fileSystem.remove(paths.new)
        try removeEmptied(paths.old)
    }

    mutating func exchange(stores: Int) throws {
        journal.stores = stores
        try fileSystem.createDirectory(paths.old)
        try enter(.settingAside)
        try moveAll(from: paths.live, to: paths.old)
        try enter(.puttingIn)
        try moveAll(from: paths.new, to: paths.live)
    }

    mutating func rollBack() throws -> FilePath {
        guard let refused = try takeOutAndPutBack() else { throw lost() }
        return refused
    }

    private mutating func takeOutAndPutBack() throws -> FilePath? {
        try enter(.takingOut)
        try moveAll(from: paths.live, to: paths.new)
        return try putBack()
    }

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
        return refused
    }

    mutating func finish() throws -> FilePath? {
        try enter(.cleaning)
        var leftover: FilePath?
        do {
            try fileSystem.remove(paths.old)
        } catch {
            let path = try paths.vacant("Old", from: 2)
            try fileSystem.move(paths.old, to: path)
            leftover = path
        }
        // All that it may still have is what is not a restore's to put in place.
        try fileSystem.remove(paths.new)
        try settle()
        return leftover
    }

    // MARK: - Steps

    /// Writes the journal, which is then on the disk with all that is in `area`.
    private mutating func enter(_ phase: RestoreJournal.Phase) throws {
        journal.phase = phase
        try write()
    }

    func write() throws {
        try journal.write(to: paths.journal, with: fileSystem)
    }

    /// Moves all that may be moved, and has it on the disk.
    private func moveAll(from source: FilePath, to target: FilePath) throws {
        guard let info = try FileInfo.ifPresent(source) else { return }
        guard info.kind == .directory, try FileInfo(of: target).kind == .directory else {
            throw lost()
        }
        let live = try StoresDirectory(paths.live)
        let inLive = try Directory.open(paths.live)
        let directory = try Directory.open(source)
        let names = try directory.names().filter { name in
            // What stays in the stores directory keeps its name to itself.
            guard let info = try? inLive.info(name) else { return true }
            return !live.leavesOut(name, info)
        }
        for name in source == paths.live ? names.reversed() : names {
            let name = RelativePath(name: name)
            try move(name.below(source), to: name.below(target))
        }
        try fileSystem.sync(target)
        try fileSystem.sync(source)
    }

    /// Moves one name.
    ///
    /// Where files are moved by link(2) and unlink(2), a crash may have left it in both directories.
    private func move(_ path: FilePath, to newPath: FilePath) throws {
        do {
            try fileSystem.move(path, to: newPath)
        } catch FileError.exists(let taken) {
            let identities = try [path, newPath].map { try FileInfo(of: $0).identity }
            guard identities[0] == identities[1] else { throw FileError.exists(taken) }
            try fileSystem.remove(path)
        }
    }

    /// Removes a directory that names were moved out of; never one that still has some.
    private func removeEmptied(_ path: FilePath) throws {
        guard try FileInfo.ifPresent(path) != nil else { return }
        guard try Directory.open(path).names().isEmpty else { throw lost() }
        try fileSystem.remove(path)
    }

    /// Removes the journal, and then the area unless something is kept in it.
    func forget() throws {
        // What was moved and removed before must not come back without its journal.
        try fileSystem.sync(paths.area)
        try fileSystem.remove(paths.journal)
        try fileSystem.remove(LocalFileSystem.draft(of: paths.journal))
        try fileSystem.sync(paths.area)
        guard try Directory.open(paths.area).names().isEmpty else { return }
        try fileSystem.remove(paths.area)
        try fileSystem.sync(paths.live)
    }

    // MARK: - After a crash

    static func recover(
        _ paths: RestorePaths,
        with fileSystem: any FileSystem,
        judge: RestoreJudge
    ) throws -> RestoreRecovery? {
        // A link could lead the restore to somebody else's files.
        guard try FileInfo.ifPresent(paths.area)?.kind == .directory else { return nil }
        guard let journal = try RestoreJournal.read(paths.journal) else {
            let draft = LocalFileSystem.draft(of: paths.journal)
            guard
                try Directory.open(paths.area).names().allSatisfy({
                    RelativePath(name: $0).below(paths.area) == draft
                })
            else { return nil }
            try fileSystem.remove(paths.area)
            try fileSystem.sync(paths.live)
            return nil
        }
        var swap = ChildrenSwap(paths, journal, fileSystem)
        do {
            return try swap.recover(judge)
        } catch FileError.exists(let path) {
            throw OperationError.cannotRecover(
                paths.journal,
                reason:
                    "'\(printable(path))' was made meanwhile; what belongs there is in '\(printable(paths.area))'"
            )
        }
    }

    private mutating func recover(_ judge: RestoreJudge) throws -> RestoreRecovery {
        switch journal.phase {
        case .staging:
            return try undo()
        case .settingAside:
            try moveAll(from: paths.old, to: paths.live)
            return try undo()
        case .puttingIn:
            if let refusal = try refusalOnceIn(judge) {
                try judge.allowsRollBack(journal, refusal)
                let refused = try takeOutAndPutBack()
                try settle()
                return undone(refused, since: refusal)
            }
            return try finished()
        case .takingOut:
            try judge.allowsRollBack(journal, nil)
            let refused = try takeOutAndPutBack()
            try settle()
            return undone(refused)
        case .puttingBack:
            let refused = try putBack()
            try settle()
            return undone(refused)
        case .cleaning:
            return try finished()
        case .settled:
            return ended(.settled)
        case .swapping, .rollingBack:
            throw lost()
        }
    }

    /// Moves the rest in, and has all of it looked at.
    private func refusalOnceIn(_ judge: RestoreJudge) throws -> (any Error)? {
        do {
            try moveAll(from: paths.new, to: paths.live)
        } catch {
            return try judge.refusalOfHalf(journal, error)
        }
        return try judge.refusal(journal)
    }

    private mutating func undo() throws -> RestoreRecovery {
        try removeStaged()
        try settle()
        return undone(nil)
    }

    private mutating func finished() throws -> RestoreRecovery {
        let leftover = try finish()
        return ended(.finished(leftover: leftover))
    }

    private func undone(_ refused: FilePath?, since error: (any Error)? = nil) -> RestoreRecovery {
        ended(.undone(refused: refused, since: error))
    }

    private func ended(_ end: RestoreRecovery.End) -> RestoreRecovery {
        RestoreRecovery(swap: self, end: end)
    }

    private func lost() -> OperationError {
        .cannotRecover(paths.journal, reason: "the directories are not as it says")
    }
}
