internal import Files
internal import SystemPackage

/// Puts what was staged in the place of what is in the stores directory, and back.
///
/// Every step is announced in a journal before it is made, so that after a crash at any of them
/// the next run can tell what is where.
protocol RestoreSwap {
    var paths: RestorePaths { get }

    /// Announces the restore; nothing is changed.
    init(_ paths: RestorePaths, backup: String, with fileSystem: any FileSystem) throws

    /// Makes the directory to stage in.
    mutating func stage() throws

    /// Gives up before the exchange: all is as it was.
    func abandon() throws

    /// Puts what was staged in place; what was there is then in `old`.
    ///
    /// - Parameter stores: how many stores were staged and checked, for who has to recover.
    /// - Throws: `FileError`; the journal then says what there is to recover.
    mutating func exchange(stores: Int) throws

    /// Puts back what was there.
    ///
    /// - Returns: where what was refused is kept.
    mutating func rollBack() throws -> FilePath

    /// Removes what was there: what was restored is good.
    ///
    /// - Returns: where what could not be removed was put, so that it is in nobody's way.
    /// - Throws: `FileError`; the next run then tries again.
    mutating func finish() throws -> FilePath?

    /// Finishes or undoes the restore that the journal tells of.
    ///
    /// - Parameters:
    ///   - paths: where.
    ///   - fileSystem: what renames and removes.
    ///   - check: whether the stores in the live directory open, and are as many as the journal says
    ///     were staged, if it does; throws where they do not.
    /// - Returns: `nil` where there is nothing to do.
    /// - Throws: `OperationError.cannotRecover` where the journal or the directories make no sense;
    ///   `FileError` where a step fails. The journal is then still there.
    static func recover(
        _ paths: RestorePaths,
        with fileSystem: any FileSystem,
        check: (_ staged: Int?) throws -> Void
    ) throws -> RestoreRecovery?
}

/// What became of an interrupted restore.
enum RestoreRecovery {
    /// What was there before is there again; the error is why, where it was not for the crash alone.
    case undone(backup: String, refused: FilePath?, since: (any Error)?)
    /// What was restored is in place.
    case finished(backup: String, leftover: FilePath?)
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
