internal import Backups
internal import Files
internal import Stores
internal import SystemPackage

extension KeepingPlan {
    /// Looks at a stores directory that a backup is to replace, which is staged; `nil` if the backup left out
    /// nothing, or there is nothing to replace.
    ///
    /// - Parameters:
    ///   - backup: its manifest has the rules.
    ///   - paths: the directories of the restore.
    ///   - part: the paths that are exchanged; `nil` for all.
    ///   - chosen: paths that stay whatever the rules say.
    ///   - context: the world around.
    /// - Throws: `RestoreError.cannotKeep` if something would have to be lost; `PathPatternError` if a newer
    ///   version wrote rules that are not known here; `FileError`; `CancellationError`.
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

    /// Tells what is kept, and of what the backup has something itself.
    ///
    /// - Returns: the paths that are kept, which the safety backup may leave out: it has all that the restore
    ///   replaces.
    /// - Throws: `FileError`.
    func announce(_ context: OperationContext) throws -> Set<RelativePath> {
        let present = try kept.filter { try FileInfo.inside(live, $0) != nil }
        if let first = present.first {
            let rest = present.count == 1 ? "" : " and \(present.count - 1) more"
            context.note("'\(first)'\(rest) will stay as it is: the backup left it out")
        }
        for path in present { context.tellDetail("'\(path)' stays") }
        for path in overruled {
            context.note("'\(path)' is replaced: the backup has it, though it was to be left out")
        }
        return Set(kept + untouched)
    }
}

extension RestoreJournal {
    /// Remembers what a restore keeps, which it finds with a last look; it is written with the next step,
    /// which is the exchange.
    ///
    /// - Parameters:
    ///   - backup: the backup that is restored.
    ///   - announced: the paths that the safety backup has left out, which so are kept in any case; `nil` if
    ///     nothing is to be kept.
    ///   - paths: the directories of the restore.
    ///   - context: the world around.
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
        keep(keeping.kept, by: try backup.exclusions())
    }
}

extension ArchivedBackup {
    /// Returns the rules by which it left files out.
    ///
    /// - Throws: `PathPatternError` if a newer version wrote rules that are not known here.
    func exclusions() throws -> Exclusions { try header?.excluded?.rules() ?? .none }
}
