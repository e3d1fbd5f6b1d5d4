internal import Files
internal import Stores
internal import SystemPackage

extension RestoreBackup {
    /// Restores by exchanging the stores directory; where that turns out to be impossible, by
    /// exchanging what is in it.
    func restore(
        _ plan: Extraction.Plan,
        _ paths: RestorePaths,
        _ locks: RestoreLocks,
        _ application: StoppedApplication,
        _ outcome: inout Outcome
    ) async throws {
        do {
            try await stageAndSwap(plan, paths, locks, application, &outcome)
        } catch let failure as CannotRename {
            context.report(.note("\(failure.error); it stays, and what is in it is replaced"))
            // Until the other way is done, its journal alone may say that the application is stopped.
            defer { if let first = failure.swap { conclude(first) } }
            let inside = RestorePaths(live: paths.live, .inside)
            try await stageAndSwap(plan, inside, locks, application, &outcome)
        }
    }

    /// The stores directory cannot change places with another; all is as it was.
    private struct CannotRename: Error {
        let error: FileError
        /// What is to be concluded, where the application was stopped.
        var swap: (any RestoreSwap)?

        init?(_ error: any Error, _ paths: RestorePaths, _ locks: RestoreLocks) {
            guard paths.layout == .beside, locks.live != nil, let error = error as? FileError,
                error.forbidsRename
            else { return nil }
            self.error = error
        }
    }

    private func stageAndSwap(
        _ plan: Extraction.Plan,
        _ paths: RestorePaths,
        _ locks: RestoreLocks,
        _ application: StoppedApplication,
        _ outcome: inout Outcome
    ) async throws {
        var swap = try await begin(plan, paths, locks, application)
        let staged = try await stage(&swap, plan, locks, application, &outcome)
        defer { withExtendedLifetime(staged) {} }
        do {
            if try exchange(&swap, locks, expecting: outcome.stores) {
                try reopen(&swap, expecting: outcome.stores)
                await application.start()
                noteApplication(isStopped: !application.isStarted, &swap)
                try await verify(&swap, application)
                cleanUp(&swap)
            } else {
                await application.start()
            }
        } catch var failure as CannotRename {
            // It is to be tried in another way; the application stays as it is.
            failure.swap = swap
            throw failure
        } catch {
            await application.start(after: error)
            conclude(swap)
            throw error
        }
        conclude(swap)
    }

    private func begin(
        _ plan: Extraction.Plan,
        _ paths: RestorePaths,
        _ locks: RestoreLocks,
        _ application: StoppedApplication
    ) async throws -> any RestoreSwap {
        do {
            var swap = try paths.layout.swap.init(paths, backup: plan.name, with: fileSystem)
            do {
                if options.allowsDamage { swap.journal.allowsDamage = true }
                try swap.stage()
                // The other way may have been tried before.
                if application.isStopped { try swap.noteApplication(isStopped: true) }
            } catch {
                // The journal goes last, here as later.
                await application.start()
                abandon(swap)
                throw error
            }
            return swap
        } catch {
            await application.start()
            throw CannotRename(error, paths, locks) ?? error
        }
    }

    /// Prepares all that goes before the exchange.
    ///
    /// - Returns: the lock of what is staged, which is that of the stores directory after the exchange.
    private func stage(
        _ swap: inout any RestoreSwap,
        _ plan: Extraction.Plan,
        _ locks: RestoreLocks,
        _ application: StoppedApplication,
        _ outcome: inout Outcome
    ) async throws -> FileLock? {
        let paths = swap.paths
        do {
            let staged = paths.layout == .beside ? try await context.lock(paths.new) : nil
            try fill(paths, with: plan, &outcome)
            if !options.application.stop.isEmpty { try swap.noteApplication(isStopped: true) }
            try await application.stop()
            // Asked now, since who is refused needs no backup, and once more after that.
            if !options.force, !options.application.stop.isEmpty { try refuseIfInUse(paths) }
            if outcome.safetyBackup == nil {
                outcome.safetyBackup = try await makeSafetyBackup(
                    of: paths,
                    before: plan,
                    holding: locks
                )
            }
            if !options.force { try refuseIfInUse(paths) }
            try context.checkCancellation()
            return staged
        } catch {
            // The journal goes last, as long as it says that the application is stopped.
            await application.start()
            abandon(swap)
            throw error
        }
    }

    /// Extracts into the staged directory and checks it; all of it is on the disk afterwards.
    private func fill(
        _ paths: RestorePaths,
        with plan: Extraction.Plan,
        _ outcome: inout Outcome
    ) throws {
        let directory = try Directory.open(paths.new)
        let flush = try Extraction(plan, context).run(into: directory)
        defer { flush.close() }
        outcome.stores = try checkStaged(paths.new)
        try flush.wait()
        try copyAttributes(to: directory, from: paths, plan)
        try directory.sync()
        try fileSystem.sync(paths.area)
    }

    /// Cleans up after a failure before the exchange.
    ///
    /// Where even that fails, the journal stays, and the next run does it.
    private func abandon(_ swap: any RestoreSwap) {
        do {
            try swap.abandon()
        } catch let cleanup {
            tellLeftover(of: swap.paths, cleanup)
        }
    }

    /// Makes the exchange; where it fails half-way, what the journal says is enough to settle it.
    ///
    /// - Returns: `false` where the exchange had happened all the same, and all is done.
    private func exchange(
        _ swap: inout any RestoreSwap,
        _ locks: RestoreLocks,
        expecting expected: Int
    ) throws -> Bool {
        do {
            try swap.exchange(stores: expected)
            return true
        } catch {
            let recovery: RestoreRecovery?
            do {
                let live = swap.paths.live
                let judge = RestoreJudge { _ in
                    // There is no time to ask the application whether it is well: undo it, then.
                    if !options.application.verify.isEmpty { throw error }
                    try checkInPlace(live, expecting: expected)
                }
                recovery = try swap.paths.layout.swap.recover(
                    swap.paths,
                    with: fileSystem,
                    judge: judge
                )
            } catch {
                throw OperationError.rollbackFailed(
                    error,
                    old: swap.paths.old,
                    new: swap.paths.new
                )
            }
            if let recovery { swap = recovery.swap }
            switch recovery?.end {
            case .finished(let leftover):
                if let leftover { context.report(.leftover(leftover)) }
                return false
            case .undone(let refused?, _):
                throw OperationError.rolledBack(error, refused: refused)
            case .undone, .settled, nil: break
            }
            throw CannotRename(error, swap.paths, locks) ?? error
        }
    }

    private func checkInPlace(_ live: FilePath, expecting expected: Int) throws {
        try StoresDirectory(live).checkInPlace(expecting: expected, context, tolerating: tolerate)
    }

    private func reopen(_ swap: inout any RestoreSwap, expecting expected: Int) throws {
        do {
            try checkInPlace(swap.paths.live, expecting: expected)
        } catch {
            throw OperationError.rolledBack(error, refused: try rollBack(&swap))
        }
    }

    /// Has the application say whether it can live with what was restored.
    private func verify(
        _ swap: inout any RestoreSwap,
        _ application: StoppedApplication
    ) async throws {
        do {
            try await application.verify()
        } catch {
            noteApplication(isStopped: true, &swap)
            await application.stopAgain()
            throw OperationError.rolledBack(error, refused: try rollBack(&swap))
        }
    }

    /// Has the journal say whether the application is stopped.
    ///
    /// Where that fails, the restore goes on: only a crash would make somebody miss it.
    private func noteApplication(isStopped: Bool, _ swap: inout any RestoreSwap) {
        guard !options.application.stop.isEmpty else { return }
        do {
            try swap.noteApplication(isStopped: isStopped)
        } catch {
            context.report(.note("the restore's journal was not written: \(explain(error))"))
        }
    }

    private func rollBack(_ swap: inout any RestoreSwap) throws -> FilePath {
        let refused: FilePath
        do {
            // Said before it is done, so that nobody wonders after a crash what it is.
            let kept = printable(try swap.paths.vacant("FailedRestore"))
            context.report(.note("what was restored is refused; it goes to '\(kept)'"))
            refused = try swap.rollBack()
        } catch {
            throw OperationError.rollbackFailed(error, old: swap.paths.old, new: swap.paths.live)
        }
        do {
            try swap.settle()
        } catch {
            tellLeftover(of: swap.paths, error)
        }
        return refused
    }

    /// Removes what was there; where that fails, the restore has succeeded all the same, and the
    /// next run does it.
    private func cleanUp(_ swap: inout any RestoreSwap) {
        do {
            if let leftover = try swap.finish() { context.report(.leftover(leftover)) }
        } catch {
            tellLeftover(of: swap.paths, error)
        }
    }

    /// Removes the journal of a restore that is settled; where that fails, the next run does it.
    private func conclude(_ swap: any RestoreSwap) {
        do {
            try swap.conclude()
        } catch {
            tellLeftover(of: swap.paths, error)
        }
    }

    private func tellLeftover(of paths: RestorePaths, _ error: any Error) {
        let names = paths.traces.map { "'\(printable($0))'" }.joined(separator: ", ")
        context.report(.note("\(explain(error)); the next run will clean up \(names)"))
    }

    func checkStaged(_ path: FilePath) throws -> Int {
        context.report(.began(.checking, total: nil))
        return try StoresDirectory(path).checkStores(
            options.check,
            context,
            tolerating: tolerate
        )
    }

    private func tolerate(_ error: StoreError) throws {
        guard options.allowsDamage else { throw error }
        context.report(.note("\(error), and restored all the same"))
    }

    /// The stores directory itself keeps its mode and owner; a new one gets those of the backup.
    private func copyAttributes(
        to directory: Directory,
        from paths: RestorePaths,
        _ plan: Extraction.Plan
    ) throws {
        if let info = try FileInfo.ifPresent(paths.live) {
            if Extraction.mayGiveAway { try directory.setOwner(info.owner, group: info.group) }
            try directory.setAttributes(mode: info.mode, modified: info.modified)
        } else if let root = plan.contents.header?.root, let mode = UInt16(root.mode, radix: 8) {
            if Extraction.mayGiveAway { try directory.setOwner(root.uid, group: root.gid) }
            try directory.setAttributes(mode: mode & 0o7777, modified: directory.info().modified)
        }
    }

    private func makeSafetyBackup(
        of paths: RestorePaths,
        before plan: Extraction.Plan,
        holding locks: RestoreLocks
    ) async throws -> Backup? {
        guard options.makesSafetyBackup, let live = try? StoresDirectory(paths.live) else {
            return nil
        }
        var backupOptions = options.backup
        backupOptions.isBeforeRestore = true
        backupOptions.reason = "before the restore of '\(BackupName.display(plan.name))'"
        do {
            let outcome = try await CreateBackup(
                of: paths.live,
                to: remote,
                catalog: catalog,
                options: backupOptions,
                context: context
            ).runLocked(live, holding: [locks.parent, locks.live].compactMap(\.self))
            // What may be lost is not to be relied on.
            if let error = outcome.notSynced { throw OperationError.safetyBackupFailed(error) }
            if let error = NotSaved(outcome.problems) {
                throw OperationError.safetyBackupFailed(error)
            }
            return outcome.backup
        } catch OperationError.nothingToBackUp {
            return nil
        } catch OperationError.backupFailed(let error) {
            throw OperationError.safetyBackupFailed(error)
        }
    }

    /// What a backup left out, which a restore would destroy.
    private struct NotSaved: ExplainedError {
        let problem: Problem
        let count: Int

        init?(_ problems: [Problem]) {
            let lost = problems.filter { $0.kind == .unreadable }
            guard let first = lost.first else { return nil }
            (problem, count) = (first, lost.count)
        }

        var description: String {
            "\(problem)" + (count > 1 ? ", and \(count - 1) more" : "")
        }
    }

    func refuseIfInUse(_ paths: RestorePaths) throws {
        guard let directory = try? StoresDirectory(paths.live) else { return }
        try Store.refuseIfInUse(directory.survey().stores)
    }
}
