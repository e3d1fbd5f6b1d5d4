internal import Backups
internal import Files
internal import Remotes
internal import Stores
internal import SystemPackage

extension RestoreBackup {
    /// Replaces the content of the stores directory with that of an archive: as a whole, or name by name if the
    /// directory itself cannot be exchanged.
    ///
    /// - Throws: `RestoreError.rolledBack`, `.rollbackFailed`; after any other error, nothing was changed.
    func replaceData(
        with plan: RestorePlan,
        _ paths: RestorePaths,
        _ locks: RestoreLocks,
        _ outcome: inout Outcome
    ) async throws {
        var swap = try stage(plan, paths, locks)
        do {
            // After an exchange, the staged directory is the stores directory.
            let staged = swap.paths.layout == .beside ? swap.paths.new : nil
            try await context.withLock(on: staged) {
                try await exchange(&swap, with: plan, locks, &outcome)
                removeReplaced(&swap)
            }
        } catch {
            if [.staging, .settled].contains(swap.journal.phase) {
                context.noteFutile(swap.journal.safety, in: folder.memory.log)
            }
            end(&swap)
            throw error
        }
    }

    /// Fills the staged directory, and exchanges it while the application is stopped.
    private func exchange(
        _ swap: inout NameSwap,
        with plan: RestorePlan,
        _ locks: RestoreLocks,
        _ outcome: inout Outcome
    ) async throws {
        var staged = try await filled(swap.paths, with: plan)
        try refuseWithoutStores(staged, of: plan, replacing: swap.paths.live)
        if let facts = staged.facts, locks.live != nil {
            try approve(facts, of: plan, replacing: swap.paths.live)
        }
        let application = application(for: plan, swap.paths)
        (outcome.safetyBackup, outcome.isApplicationStarted) =
            try await application.whileStopped(&swap) { swap in
                // Check before the safety backup, because a refused restore needs none, and once more after it.
                if !options.application.stop.isEmpty { try refuseIfInUse(plan, swap.paths) }
                let safety = try await makeSafetyBackup(of: swap.paths, before: plan, locks)
                swap.journal.safety = safety.backup?.id?.rawValue
                if swap.journal.safety != nil { try swap.write() }
                if let refusal = try exchange(&swap, plan, locks, after: safety, staged) {
                    try stageInside(&swap, plan, locks, since: refusal)
                    staged = try fill(swap.paths, with: plan)
                    _ = try exchange(&swap, plan, locks, after: safety, staged)
                }
                return safety.backup
            }
        (outcome.stores, outcome.problems) = (staged.stores, staged.problems)
        do {
            try await application.verify()
        } catch {
            _ = try await application.whileStopped(&swap, again: true) { swap in
                throw RestoreError.rolledBack(error, refused: try rollBack(&swap))
            }
        }
    }

    private func application(for plan: RestorePlan, _ paths: RestorePaths) -> StoppedApplication {
        StoppedApplication(
            commands: options.application,
            environment: CommandEnvironment(
                command: "restore",
                profile: options.application.profile,
                stores: paths.live,
                remote: folder.address,
                backup: plan.name
            ),
            context: context
        )
    }

    /// Reports everything worth knowing before the stores of a backup replace the present ones.
    ///
    /// - Throws: `RestoreError.declined` if the backup has much less data, and the user declines.
    func approve(_ stores: [StoreFacts], of plan: RestorePlan, replacing live: FilePath) throws {
        let present: PresentStores
        do {
            present = try PresentStores(
                in: live,
                of: plan.roots,
                leavingOut: plan.archived.exclusions(),
                context
            )
        } catch  where !(error is CancellationError) {
            // The present data may be damaged, which may be the reason for the restore.
            return context.note(
                "the backup is not compared with the present data: \(explain(error))"
            )
        }
        let stores = stores.filter { plan.roots?.contains(printed: $0.path) ?? true }
        for remark in present.newer(stores) { context.warn(remark) }
        guard let loss = present.loss(by: BackupName.display(plan.name), with: stores) else {
            return
        }
        if options.isDryRun { return context.warn(loss) }
        guard try options.acceptsLoss(loss) else { throw RestoreError.declined }
    }

    // MARK: - The exchange

    /// Makes the exchange after a last look at the present data, and opens the stores in place.
    ///
    /// If it fails half-way, the restore journal has enough information to finish or undo it.
    ///
    /// - Returns: the reason why the stores directory cannot be exchanged, with everything as before; `nil` after an
    ///   exchange.
    /// - Throws: see `replaceData`.
    private func exchange(
        _ swap: inout NameSwap,
        _ plan: RestorePlan,
        _ locks: RestoreLocks,
        after safety: SafetyBackup,
        _ staged: StagedData
    ) throws -> FileError? {
        try refuseIfInUse(plan, swap.paths)
        try plan.part?.refuseIfChanged(in: swap.paths.live)
        try refuseIfChanged(since: safety, plan, in: swap.paths.live, of: swap.paths.live)
        try context.checkCancellation()
        try swap.journal.noteKept(by: plan.archived, safety.kept, swap.paths, context)
        do {
            try swap.exchange(stores: staged.stores)
        } catch {
            return try recover(&swap, from: error, locks)
        }
        do {
            try checkInPlace(swap)
            // Nobody can reach the replaced data by its name any more.
            try refuseIfChanged(since: safety, plan, in: swap.paths.old, of: swap.paths.live)
            _ = try swap.keep(sweeps: true)
        } catch {
            throw RestoreError.rolledBack(error, refused: try rollBack(&swap))
        }
        return nil
    }

    private func recover(
        _ swap: inout NameSwap,
        from error: any Error,
        _ locks: RestoreLocks
    ) throws -> FileError? {
        let paths = swap.paths
        let recovery: NameSwap.Recovery
        do {
            // The journal on the disk may or may not announce the next step.
            swap.journal = try RestoreJournal.read(paths.journal) ?? swap.journal
            recovery = try swap.recover { [swap] _, subject in
                Verdict.inSameRun(subject) {
                    // The user's checks cannot run here, so undo the exchange.
                    if !options.application.verify.isEmpty { throw error }
                    try checkInPlace(swap)
                }
            }
        } catch let failure {
            // While staging, nothing was changed.
            guard swap.journal.phase != .staging else { throw error }
            throw RestoreError.rollbackFailed(failure, old: paths.old, new: paths.new)
        }
        switch recovery {
        case .finished(let leftover):
            context.noteLeftover(leftover)
            return nil
        case .undone(let refused?, _): throw RestoreError.rolledBack(error, refused: refused)
        case .undone(nil, _), .settled:
            guard let refusal = renameRefusal(error, paths, locks) else { throw error }
            return refusal
        }
    }

    private func checkInPlace(_ swap: NameSwap) throws {
        try StoresDirectory(swap.paths.live).checkInPlace(
            expecting: swap.journal.stores,
            of: swap.journal.part,
            passingOver: swap.journal.keptPaths,
            context,
            tolerating: tolerate
        )
    }

    private func rollBack(_ swap: inout NameSwap) throws -> FilePath {
        do {
            // Report the place first, so that the data can be identified after a crash.
            let kept = printable(try swap.paths.vacant("FailedRestore"))
            context.note("the restored data is refused; it is moved to '\(kept)'")
            return try swap.rollBack()
        } catch {
            throw RestoreError.rollbackFailed(error, old: swap.paths.old, new: swap.paths.live)
        }
    }

    // MARK: - The end

    /// Removes the replaced data; if that fails, the restore has still succeeded.
    private func removeReplaced(_ swap: inout NameSwap) {
        do {
            // After an exchange that failed and was then finished, the replaced data is already gone.
            if swap.journal.phase != .settled { context.noteLeftover(try swap.removeReplaced()) }
            try swap.removeJournal()
        } catch {
            reportLeftover(of: swap.paths, error)
        }
    }

    /// Ends a failed restore: removes staged data that was never exchanged, and the restore journal unless there is
    /// something to recover.
    func end(_ swap: inout NameSwap) {
        do {
            guard try swap.paths.hasTraces() else { return }
            if swap.journal.phase == .staging { try swap.removeStaged() }
            try swap.removeJournal()
        } catch {
            reportLeftover(of: swap.paths, error)
        }
    }

    /// Reports the remains that the next run has to clean up.
    func reportLeftover(of paths: RestorePaths, _ error: any Error) {
        let names = paths.traces.map { "'\(printable($0))'" }.joined(separator: ", ")
        context.note("\(explain(error)); the next run will clean up \(names)")
    }
}
