public import Backups
internal import Files
internal import Stores
public import SystemPackage

extension RestoreBackup {
    /// Extracts a backup into a directory of its own and checks its stores, touching nothing else.
    ///
    /// The directory appears only once it is complete. Files that rows refer to and that are missing are
    /// told as problems: here is time to look for them.
    ///
    /// - Returns: what was done.
    /// - Throws: `RestoreError.targetNotEmpty`; see `run(_:to:)`.
    public func extract(_ backup: Backup, to target: FilePath) async throws -> Outcome {
        // Of an existing directory the name is needed, which "." and "a/.." do not have.
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

    /// Throws `RestoreError.targetNotEmpty` if something is at a path but an empty directory.
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
        let flush = try context.extract(plan, into: directory)
        defer { flush.close() }
        let search = try ExternalDataSearch(in: StoresDirectory(staged), context)
        defer { search.close() }
        outcome.stores = try checkStaged(staged)
        outcome.problems = try search.finish()
        try flush.wait()
        try makeWay(at: target)
        try fileSystem.move(staged, to: target)
    }

    /// Removes the target, unless somebody has put something there since it was found empty.
    func makeWay(at target: FilePath) throws {
        guard let info = try FileInfo.ifPresent(target) else { return }
        guard info.kind == .directory else { throw RestoreError.targetNotEmpty(target) }
        do {
            try LocalFileSystem().removeEmptyDirectory(target)
        } catch FileError.exists, FileError.failed(_, _, .directoryNotEmpty) {
            throw RestoreError.targetNotEmpty(target)
        }
    }
}
