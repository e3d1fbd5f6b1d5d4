internal import Backups
internal import Files
internal import Remotes
internal import Stores
internal import SystemPackage

/// A backup that may wait is first put into the outbox, and then uploaded:
///
///     send what waits → cut, write, publish in the outbox → send that
///
/// So after a killed run or an interrupted transfer, the stores need not be read again.
extension CreateBackup {
    /// The folder that the archive is put into.
    var destination: BackupFolder { options.queues ? folder.outbox?.folder ?? folder : folder }

    /// Uploads the waiting backups, if there are any.
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

    /// Makes the backup, which stays in the outbox if the folder is unreachable.
    func run(
        _ directory: StoresDirectory,
        queueingIn outbox: Outbox,
        holding locked: [FilePath]
    ) async throws -> Outcome {
        try outbox.make(for: folder.address)
        guard locked.isEmpty, options.sameName == .number else {
            // A restore may have locked the folder itself, and must not wait for other transfers. And another backup
            // can be replaced only in the folder.
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
        let sent: UploadBackups.Outcome
        do {
            sent = try await sendWaiting()
        } catch let error where error.isUnreachable {
            return try await makeWaiting(directory, outbox, since: error)
        }
        let outcome: Outcome
        do {
            outcome = try await context.withLocks(on: folder, outbox.folder) {
                let waiting = try await outbox.waiting()
                // A folder that refuses archives, such as a full one, leaves them here.
                if let failure = sent.failure {
                    _ = try outbox.room(beside: waiting, since: failure)
                }
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

    /// Uploads a backup from the outbox, together with the others that wait.
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
                // Another run has already uploaded it.
                let backups = try await folder.list().backups
                outcome.backup = backups.first { $0.id == outcome.backup.id } ?? outcome.backup
            }
        } catch let error where error.isUnreachable {
            outcome.waitsFor = error
        } catch let error as CancellationError {
            context.note("'\(outcome.backup.displayName)' was made, and waits for upload")
            throw error
        } catch {
            let reason = "not sent: \(explain(error))"
            context.note(.notCopied, outcome.backup.name, reason, in: &outcome.problems)
            outcome.waitsFor = error
        }
        return outcome
    }

    /// Makes the next backup compare its rows with those of a waiting backup.
    private func remember(_ outcome: Outcome) {
        guard !outcome.isUnchanged, !outcome.backup.isSafety,
            let location = outcome.backup.file.location,
            let header = try? ArchivedBackup(
                location,
                name: outcome.backup.name,
                keys: folder.keys
            ).header
        else { return }
        folder.rememberExpectedData(header.expectedNext, after: outcome.backup)
    }
}
