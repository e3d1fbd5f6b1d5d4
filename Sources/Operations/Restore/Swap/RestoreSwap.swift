internal import Files
internal import SystemPackage

/// Puts what was staged in the place of what is in the stores directory, and back.
///
/// Every step is announced in a journal before it is made, so that after a crash at any of them
/// the next run can tell what is where.
protocol RestoreSwap: Sendable {
    var paths: RestorePaths { get }
    var fileSystem: any FileSystem { get }
    /// What there is to know after a crash.
    var journal: RestoreJournal { get set }

    /// Has what the journal says on the disk.
    func write() throws

    /// Announces the restore; nothing is changed.
    init(_ paths: RestorePaths, backup: String, with fileSystem: any FileSystem) throws

    /// Makes the directory to stage in.
    mutating func stage() throws

    /// Gives up before the exchange: all is as it was, and the journal is gone.
    func abandon() throws

    /// Puts what was staged in place; what was there is then in `old`.
    ///
    /// - Parameter stores: how many stores were staged and checked, for who has to recover.
    /// - Throws: `FileError`; the journal then says what there is to recover.
    mutating func exchange(stores: Int) throws

    /// Puts back what was there; to be settled.
    ///
    /// - Returns: where what was refused is kept.
    mutating func rollBack() throws -> FilePath

    /// Removes what was there, since what was restored is good, and settles.
    ///
    /// - Returns: where what could not be removed was put, so that it is in nobody's way.
    /// - Throws: `FileError`; the next run then tries again.
    mutating func finish() throws -> FilePath?

    /// Removes the journal, and has that and all before it on the disk.
    func forget() throws

    /// Finishes or undoes the restore that the journal tells of, and settles.
    ///
    /// - Parameters:
    ///   - paths: where.
    ///   - fileSystem: what renames and removes.
    ///   - judge: who says whether what is in place stays there.
    /// - Returns: `nil` where there is nothing to do.
    /// - Throws: `OperationError.cannotRecover` where the journal or the directories make no sense;
    ///   `FileError` where a step fails; what the judge throws. The journal is then still there.
    static func recover(
        _ paths: RestorePaths,
        with fileSystem: any FileSystem,
        judge: RestoreJudge
    ) throws -> RestoreRecovery?
}

extension RestoreSwap {
    /// Remembers whether the application is stopped, for who has to recover.
    mutating func noteApplication(isStopped: Bool) throws {
        journal.isApplicationStopped = isStopped ? true : nil
        try write()
    }

    /// Ends the restore: the journal goes, unless the application is stopped.
    mutating func settle() throws {
        guard journal.isApplicationStopped ?? false else { return try forget() }
        // What was moved and removed before must not come back.
        try fileSystem.sync(paths.area)
        var settled = self
        settled.journal.phase = .settled
        try settled.write()
        self = settled
    }

    /// Ends a restore that is settled, once the application is started or somebody knows that it is not.
    func conclude() throws {
        if journal.phase == .settled { try forget() }
    }
}

/// Says what becomes of data that an interrupted restore has put in place.
///
/// What each of them throws leaves the journal and the directories as they are.
struct RestoreJudge {
    /// Looks at the stores in place: why they have to go, or `nil` where they are good.
    var refusal: (RestoreJournal) throws -> (any Error)?
    /// Is told why not all could be put in place; returns that where the rest has to go, too.
    var refusalOfHalf: (RestoreJournal, any Error) throws -> any Error
    /// Is asked before anything is taken out of its place, and told why that is to be, where it was not
    /// decided before the crash.
    var allowsRollBack: (RestoreJournal, (any Error)?) throws -> Void
}

extension RestoreJudge {
    /// Asks a check, for who knows that nobody uses the stores: what fails has to go.
    init(check: @escaping (RestoreJournal) throws -> Void) {
        refusal = { journal in
            do {
                try check(journal)
                return nil
            } catch {
                return error
            }
        }
        refusalOfHalf = { $1 }
        allowsRollBack = { _, _ in }
    }
}

/// What became of an interrupted restore.
struct RestoreRecovery {
    enum End {
        /// What was there before is there again; the error is why, where it was not for the crash alone.
        case undone(refused: FilePath?, since: (any Error)?)
        /// What was restored is in place.
        case finished(leftover: FilePath?)
        /// That had been done already.
        case settled
    }

    /// What is known of the restore; to be concluded.
    var swap: any RestoreSwap
    var end: End
}

extension RestorePaths.Layout {
    /// What swaps in this layout.
    var swap: any RestoreSwap.Type {
        switch self {
        case .beside: StoresSwap.self
        case .inside: ChildrenSwap.self
        }
    }
}
