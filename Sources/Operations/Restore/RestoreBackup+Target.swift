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
    /// - Throws: `RestoreError.targetNotEmpty`; see `run(_:to:)`.
    public func extract(_ backup: Backup, to target: FilePath) async throws -> Outcome {
        // The code below needs the name of an existing directory, which "." and "a/.." lack.
        let target = (try? target.resolved()) ?? target
        try Self.refuseOccupied(target)
        try makeParent(of: target)
        let plan = try await open(backup)
        do {
            return try extract(plan, backup, to: target)
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

    private func extract(
        _ plan: ArchivedBackup,
        _ backup: Backup,
        to target: FilePath
    ) throws -> Outcome {
        let parent =
            target.removingLastComponent().isEmpty ? FilePath(".") : target.removingLastComponent()
        try plan.checkSpace(at: parent)
        var outcome = Outcome(backup, plan, path: target, replacesData: false)
        if options.isDryRun {
            if plan.isAtHand { try context.verify(plan) }
            return outcome
        }
        try ScratchDirectory.with(in: parent) {
            try put(plan, at: target, stagingIn: $0, &outcome)
        }
        do {
            try fileSystem.sync(parent)
        } catch {
            outcome.problems.append(
                Problem(kind: .notSynced, path: printable(target), reason: explain(error))
            )
        }
        context.tell(outcome.problems)
        return outcome
    }

    private func put(
        _ plan: ArchivedBackup,
        at target: FilePath,
        stagingIn scratch: FilePath,
        _ outcome: inout Outcome
    ) throws {
        let staged = scratch.appending("Stores")
        try fileSystem.createDirectory(staged)
        let directory = try Directory.open(staged)
        let rules = AttributeRules(keepingSetID: options.keepsSetID)
        let flush = try context.extract(plan, into: directory, by: rules)
        defer { flush.close() }
        let search = try ExternalDataSearch(in: StoresDirectory(staged), context)
        defer { search.close() }
        outcome.stores = try checkStaged(staged)
        outcome.problems = try search.finish()
        try flush.wait()
        try makeWay(at: target)
        try fileSystem.move(staged, to: target)
    }

    /// Removes the target, unless another process has put something there since it was found empty.
    private func makeWay(at target: FilePath) throws {
        guard let info = try FileInfo.ifPresent(target) else { return }
        guard info.kind == .directory else { throw RestoreError.targetNotEmpty(target) }
        do {
            try LocalFileSystem().removeEmptyDirectory(target)
        } catch FileError.exists, FileError.failed(_, _, .directoryNotEmpty) {
            throw RestoreError.targetNotEmpty(target)
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
        let target = (try? target.resolved()) ?? target
        try Self.refuseOccupied(target)
        try makeParent(of: target)
        let (archived, missing) = try await folder.openToSalvage(backup) {
            context.report(.began(.fetching, total: $0))
        }
        let parent =
            target.removingLastComponent().isEmpty ? FilePath(".") : target.removingLastComponent()
        var outcome = Outcome(backup, archived, path: target, replacesData: false)
        try ScratchDirectory.with(in: parent) { scratch in
            let staged = scratch.appending("Stores")
            try fileSystem.createDirectory(staged)
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
            try makeWay(at: target)
            try fileSystem.move(staged, to: target)
        }
        do {
            try fileSystem.sync(parent)
        } catch {
            let path = printable(target)
            outcome.problems.append(
                Problem(kind: .notSynced, path: path, reason: explain(error))
            )
        }
        context.tell(outcome.problems)
        return outcome
    }
}
