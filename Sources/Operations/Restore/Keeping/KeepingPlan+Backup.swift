internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

extension KeepingPlan {
    /// Plans for a stores directory that a staged backup is about to replace; `nil` if the backup excluded nothing, or
    /// there is nothing to replace.
    ///
    /// - Parameters:
    ///   - backup: the backup, whose manifest has the rules.
    ///   - paths: the directories of the restore.
    ///   - part: the exchanged paths; `nil` for all.
    ///   - chosen: the paths that stay even if the rules do not match them.
    ///   - context: the context of the operation.
    /// - Throws: `RestoreError.cannotKeep` if something would be lost; `PathPatternError` if a newer version wrote
    ///   rules that are unknown here; `FileError`; `CancellationError`.
    init?(
        of backup: ArchivedBackup,
        _ paths: RestorePaths,
        part: RestoredPart? = nil,
        chosen: Set<RelativePath> = [],
        _ context: OperationContext
    ) throws {
        let exclusions = try backup.exclusions()
        guard !exclusions.isEmpty, try FileInfo.ifPresent(paths.live) != nil else { return nil }
        try self.init(
            of: exclusions,
            from: paths.live,
            into: paths.new,
            chosen: chosen,
            checkCancellation: context.checkCancellation
        )
        if let part { limit(to: part) }
        try refuseUnmovable()
    }

    /// Reports the kept paths, and the paths that are replaced although they match the rules.
    ///
    /// - Returns: the kept paths; the safety backup may skip them, because it needs only the data that is replaced.
    /// - Throws: `FileError`.
    func announce(_ context: OperationContext) throws -> Set<RelativePath> {
        let present = try kept.filter { try FileInfo.inside(live, $0) != nil }
        if let first = present.first {
            let rest = present.count == 1 ? "" : " and \(present.count - 1) more"
            context.note("'\(first)'\(rest) will stay as it is: the backup left it out")
        }
        for path in present { context.reportDetail("'\(path)' stays") }
        for path in overruled {
            context.note("'\(path)' is replaced: the backup has it, though it was to be left out")
        }
        return Set(kept + untouched)
    }
}

extension RestoreJournal {
    /// Records the paths that a restore keeps, which a last look at the directory finds.
    ///
    /// The next step, the exchange, writes the journal.
    ///
    /// - Parameters:
    ///   - backup: the backup that is restored.
    ///   - announced: the paths that the safety backup skipped, which are therefore always kept; `nil` if nothing is
    ///     kept.
    ///   - paths: the directories of the restore.
    ///   - context: the context of the operation.
    /// - Throws: see `KeepingPlan`.
    mutating func noteKept(
        by backup: ArchivedBackup,
        _ announced: Set<RelativePath>?,
        _ paths: RestorePaths,
        _ context: OperationContext
    ) throws {
        guard let announced,
            let keeping = try KeepingPlan(
                of: backup,
                paths,
                part: part,
                chosen: announced,
                context
            )
        else { return }
        try keeping.makeParents()
        exclusions = try backup.exclusions()
        keptPaths = keeping.kept
    }
}

extension ArchivedBackup {
    /// Returns the rules by which the backup excluded files.
    ///
    /// - Throws: `PathPatternError` if a newer version wrote rules that are unknown here.
    func exclusions() throws -> Exclusions { try header?.excluded?.rules() ?? .none }
}
