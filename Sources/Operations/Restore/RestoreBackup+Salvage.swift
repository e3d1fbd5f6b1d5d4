internal import Archives
public import Backups
internal import Files
internal import Stores
public import SystemPackage

extension RestoreBackup {
    /// Extracts into a new directory as much of a backup as verifies, whatever is damaged or missing.
    ///
    /// It never goes in place of anything. Each file that is there under its own name is as it was saved.
    ///
    /// - Returns: what was done; each loss is a problem in it.
    /// - Throws: `RestoreError.targetNotEmpty`; an error that keeps the archive from being opened at all;
    ///   `FileError`, `CancellationError`.
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
            outcome.problems = try archived.salvage(
                into: .open(staged),
                missing: missing,
                progressed: context.advance
            )
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
