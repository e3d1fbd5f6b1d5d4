public import Backups
internal import Files
internal import Stores
public import SystemPackage

extension RestoreBackup {
    /// Extracts a backup into a separate directory and checks its stores, without changing anything else.
    ///
    /// The directory appears only when it is complete. Missing files that rows refer to are reported as problems:
    /// unlike a restore in place, this has the time to search for them.
    ///
    /// - Returns: the outcome.
    /// - Throws: `RestoreError.targetNotEmpty`; see `run`.
    public func extract(_ backup: Backup, to target: FilePath) async throws -> Outcome {
        let date = options.isDryRun ? nil : options.backup.date
        return try await context.notingDamage(of: backup, in: folder, at: date) {
            let target = try ExtractTarget(target)
            try makeParent(of: target.path)
            let archived = try await open(backup)
            do {
                try archived.checkSpace(at: target.parent)
                var outcome = Outcome(backup, archived, path: target.path, replacesData: false)
                if options.isDryRun {
                    if archived.isAtHand { try context.verify(archived) }
                    return outcome
                }
                try target.build(&outcome, with: fileSystem) { staged, outcome in
                    let rules = AttributeRules(keepingSetID: options.keepsSetID)
                    let flush = try context.extract(archived, into: .open(staged), by: rules)
                    defer { flush.close() }
                    let search = try ExternalDataSearch(in: StoresDirectory(staged), context)
                    defer { search.close() }
                    outcome.stores = try checkStaged(staged)
                    outcome.problems = try search.finish()
                    try flush.wait()
                }
                context.reportProblems(outcome.problems)
                return outcome
            } catch {
                throw RestoreError.saying(error)
            }
        }
    }

    // MARK: - Damaged backups

    /// Extracts the verified data of a damaged or incomplete backup into a new directory.
    ///
    /// It never replaces anything. Each file with its own name is exactly as it was saved.
    ///
    /// - Returns: the outcome, with a problem for each loss.
    /// - Throws: `RestoreError.targetNotEmpty`; an error if the archive cannot be opened at all; `FileError`,
    ///   `CancellationError`.
    public func salvage(_ backup: Backup, to target: FilePath) async throws -> Outcome {
        let target = try ExtractTarget(target)
        try makeParent(of: target.path)
        let fetching = { context.report(.began(.fetching, total: $0)) }
        let archived = try await folder.open(
            backup,
            alone: true,
            holdingTo: nil,
            fetching: fetching
        )
        let missing = try await NeedSearch.openNeedsToSalvage(
            archived,
            in: folder,
            fetching: fetching
        )
        var outcome = Outcome(backup, archived, path: target.path, replacesData: false)
        try target.build(&outcome, with: fileSystem) { staged, outcome in
            context.report(.began(.extracting, total: archived.bytes))
            let (problems, remarks) = try archived.salvage(
                into: .open(staged),
                by: AttributeRules(keepingSetID: options.keepsSetID),
                missing: missing,
                progressed: context.advance
            )
            outcome.problems = problems
            remarks.forEach(context.note)
            let survey = try StoresDirectory(staged).survey()
            (outcome.files, outcome.bytes) = (survey.regularFileCount, survey.size)
            outcome.stores = survey.stores.count
        }
        context.reportProblems(outcome.problems)
        return outcome
    }
}
