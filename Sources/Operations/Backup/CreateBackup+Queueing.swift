internal import Backups
internal import Files
internal import Remotes
internal import Stores
internal import SystemPackage

/// A backup that may wait comes into the outbox first, and goes from there:
///
///     send what waits → cut, write, publish in the outbox → send that
///
/// So a run that is killed, or a transfer that is cut, never costs another look at the stores.
extension CreateBackup {
    /// The folder that the archive comes into.
    var destination: BackupFolder { options.queues ? folder.outbox?.folder ?? folder : folder }

    /// Sends what waits, if anything does.
    ///
    /// - Throws: see `UploadBackups`.
    @discardableResult
    func sendWaiting() async throws -> UploadBackups.Outcome {
        let sent = try await UploadBackups(to: folder, context: context).run(at: options.date)
        for item in sent.items {
            context.note("sent '\(item.backup.displayName)', which waited for the folder")
        }
        return sent
    }

    /// Makes the backup, which stays in the outbox if the folder cannot be reached.
    func run(
        _ directory: StoresDirectory,
        queueingIn outbox: Outbox,
        holding locked: [FilePath]
    ) async throws -> Outcome {
        try outbox.make(for: folder.address)
        guard locked.isEmpty, options.sameName == .number else {
            // A restore has locked what may be the folder, and waits for no transfer of others. And the place
            // of another backup is taken in the folder only.
            var plain = self
            plain.options.queues = false
            do {
                if locked.isEmpty { try await sendWaiting() }
                return try await plain.runLocked(directory, holding: locked)
            } catch OperationError.backupFailed(let error) where error.isUnreachable {
                return try await makeWaiting(directory, outbox, since: error)
            } catch let error where error.isUnreachable {
                return try await makeWaiting(directory, outbox, since: error)
            }
        }
        do {
            try await sendWaiting()
        } catch let error where error.isUnreachable {
            return try await makeWaiting(directory, outbox, since: error)
        }
        let outcome: Outcome
        do {
            outcome = try await context.withLocks(on: folder, outbox.folder) {
                let waiting = try await outbox.waiting()
                var backups = try await folder.list().backups + waiting
                backups.sortNewestFirst()
                return try await makeLocked(directory, after: backups)
            }
        } catch let error where error.isUnreachable {
            return try await makeWaiting(directory, outbox, since: error)
        }
        return outcome.isUnchanged ? outcome : try await send(outcome)
    }

    /// Makes a backup that has to wait.
    private func makeWaiting(
        _ directory: StoresDirectory,
        _ outbox: Outbox,
        since refusal: any Error
    ) async throws -> Outcome {
        var create = self
        create.refusal = refusal
        create.options.sameName = .number
        var outcome = try await context.withLock(outbox.folder) {
            let waiting = try await outbox.waiting()
            create.room = try outbox.room(beside: waiting, since: refusal)
            return try await create.makeLocked(directory, after: waiting)
        }
        outcome.backup.isWaiting = true
        outcome.waitsFor = refusal
        remember(outcome)
        return outcome
    }

    /// Sends a backup that came into the outbox, and those that wait with it.
    private func send(_ outcome: Outcome) async throws -> Outcome {
        var outcome = outcome
        outcome.backup.isWaiting = true
        remember(outcome)
        do {
            let sent = try await UploadBackups(to: folder, context: context).run(at: options.date)
            outcome.problems += sent.problems
            if let item = sent.items.first(where: { $0.waiting.id == outcome.backup.id }) {
                outcome.backup = item.backup
            } else if let failure = sent.failure {
                outcome.waitsFor = failure
            } else {
                // Another run was faster.
                let backups = try await folder.list().backups
                outcome.backup = backups.first { $0.id == outcome.backup.id } ?? outcome.backup
            }
        } catch let error where error.isUnreachable {
            outcome.waitsFor = error
        } catch let error as CancellationError {
            context.note("'\(outcome.backup.displayName)' was made, and waits for upload")
            throw error
        } catch {
            let problem = Problem(
                kind: .notCopied,
                path: outcome.backup.name,
                reason: "not sent: \(explain(error))"
            )
            context.tell([problem])
            outcome.problems.append(problem)
            outcome.waitsFor = error
        }
        return outcome
    }

    /// Has the next backup compared with one that waits.
    private func remember(_ outcome: Outcome) {
        guard !outcome.isUnchanged, !outcome.backup.isSafety,
            let location = outcome.backup.file.location,
            let header = try? ArchivedBackup(
                location,
                name: outcome.backup.name,
                keys: folder.keys
            ).header
        else { return }
        folder.memory.catalog.rememberExpectedRows(
            header.successorRows,
            after: outcome.backup,
            in: folder.address
        )
    }
}
