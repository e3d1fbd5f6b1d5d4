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
        let target = try prepared(target)
        let archived = try await open(backup)
        do {
            try archived.checkSpace(at: Self.parent(of: target))
            var outcome = Outcome(backup, archived, path: target, replacesData: false)
            if options.isDryRun {
                if archived.isAtHand { try context.verify(archived) }
                return outcome
            }
            try build(target, &outcome) { staged, outcome in
                let rules = AttributeRules(keepingSetID: options.keepsSetID)
                let flush = try context.extract(archived, into: .open(staged), by: rules)
                defer { flush.close() }
                let search = try ExternalDataSearch(in: StoresDirectory(staged), context)
                defer { search.close() }
                outcome.stores = try checkStaged(staged)
                outcome.problems = try search.finish()
                try flush.wait()
            }
            return outcome
        } catch {
            throw RestoreError.saying(error)
        }
    }

    /// Throws `RestoreError.targetNotEmpty` if there is something other than an empty directory at a path.
    static func refuseOccupied(_ target: FilePath) throws {
        guard let info = try FileInfo.ifPresent((try? target.resolved()) ?? target) else { return }
        guard info.kind == .directory, try Directory.open(target).names().isEmpty else {
            throw RestoreError.targetNotEmpty(target)
        }
    }

    /// Returns the path of a directory to extract to, whose parent exists.
    private func prepared(_ target: FilePath) throws -> FilePath {
        // The code below needs the name of an existing directory, which "." and "a/.." lack.
        let target = (try? target.resolved()) ?? target
        try Self.refuseOccupied(target)
        try makeParent(of: target)
        return target
    }

    private static func parent(of target: FilePath) -> FilePath {
        let parent = target.removingLastComponent()
        return parent.isEmpty ? "." : parent
    }

    /// Fills a directory beside the target, moves it there, and reports the problems.
    private func build(
        _ target: FilePath,
        _ outcome: inout Outcome,
        _ fill: (FilePath, inout Outcome) throws -> Void
    ) throws {
        let parent = Self.parent(of: target)
        try ScratchDirectory.with(in: parent) { scratch in
            let staged = scratch.appending("Stores")
            try fileSystem.createDirectory(staged)
            try fill(staged, &outcome)
            // Another process may have put something there since it was found empty.
            if try FileInfo.ifPresent(target) != nil, try !target.removeIfEmpty() {
                throw RestoreError.targetNotEmpty(target)
            }
            try fileSystem.move(staged, to: target)
        }
        do {
            try fileSystem.sync(parent)
        } catch {
            outcome.problems.append(
                Problem(kind: .notSynced, path: printable(target), reason: explain(error))
            )
        }
        context.tell(outcome.problems)
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
        let target = try prepared(target)
        let (archived, missing) = try await folder.openToSalvage(backup) {
            context.report(.began(.fetching, total: $0))
        }
        var outcome = Outcome(backup, archived, path: target, replacesData: false)
        try build(target, &outcome) { staged, outcome in
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
            (outcome.files, outcome.bytes) = (survey.fileCount, survey.size)
            outcome.stores = survey.stores.count
        }
        return outcome
    }
}
