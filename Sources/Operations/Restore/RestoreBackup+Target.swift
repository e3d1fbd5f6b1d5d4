public import Backups
internal import Files
internal import Stores
public import SystemPackage

extension RestoreBackup {
    /// Extracts a backup into a directory of its own and checks its stores, touching nothing else.
    ///
    /// The directory appears only once it is complete. Here, where there is time, the files that
    /// rows refer to are looked for as well, and those that are missing are told as problems.
    /// - Throws: `RestoreError.targetNotEmpty`; see `run(_:to:)`.
    public func extract(_ backup: Backup, to target: FilePath) async throws -> Outcome {
        // Of an existing directory the name is needed, which "." and "a/.." do not have.
        let target = (try? target.resolved()) ?? target
        if let info = try FileInfo.ifPresent(target) {
            guard info.kind == .directory, try Directory.open(target).names().isEmpty else {
                throw RestoreError.targetNotEmpty(target)
            }
        }
        try makeParent(of: target)
        let plan = try await open(backup)
        do {
            return try extract(plan, backup, to: target)
        } catch {
            throw RestoreError.saying(error)
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
        var outcome = Outcome(
            backup: backup,
            path: printable(target),
            files: plan.files,
            bytes: plan.bytes,
            stores: plan.header?.stores.count ?? 0,
            safetyBackup: nil,
            replacesData: false
        )
        if options.isDryRun {
            try context.verify(plan)
            return outcome
        }
        let scratch = try ScratchDirectory(in: parent)
        let staged = scratch.path.appending("Stores")
        try fileSystem.createDirectory(staged)
        let directory = try Directory.open(staged)
        let flush = try context.extract(plan, into: directory)
        defer { flush.close() }
        let search = try ExternalDataSearch(in: StoresDirectory(staged), context)
        defer { search.close() }
        outcome.stores = try checkStaged(staged)
        outcome.problems = try search.finish()
        for problem in outcome.problems { context.report(.problem(problem)) }
        try flush.wait()
        try fileSystem.remove(target)
        try fileSystem.move(staged, to: target)
        do {
            try fileSystem.sync(parent)
        } catch {
            let problem = Problem(
                kind: .notSynced,
                path: printable(target),
                reason: explain(error)
            )
            context.report(.problem(problem))
            outcome.problems.append(problem)
        }
        return outcome
    }
}
