internal import Backups
internal import Files
internal import Operations
internal import Remotes
internal import SystemPackage

extension BackupCommand {
    /// The policy that is suggested if there is none.
    private static let suggestion = "--keep-daily 7 --keep-weekly 5 --keep-monthly 12"

    /// Returns an error about a full folder with advice on what to prune, and how much that frees; any other error as it
    /// is.
    func advised(_ error: any Error, _ invocation: Invocation) async -> any Error {
        guard ExitStatus(error) == .noSpace, let folder = try? invocation.folder() else {
            return error
        }
        var cause = error
        if case OperationError.backupFailed(let inner) = error { cause = inner }
        if case FileError.failed(_, _, .fileTooLarge) = cause { return error }
        // Another directory of this machine may be full: the outbox, or the place where an archive is made.
        guard cause is RemoteError || folder.remote.directory != nil && !invocation.profile.queues,
            let hint = try? await pruning(folder, invocation)
        else { return error }
        return AdvisedError(cause: error, hint: hint)
    }

    /// Returns the command that frees space in a folder, and its effect; `nil` if it would free nothing.
    private func pruning(_ folder: BackupFolder, _ invocation: Invocation) async throws -> String? {
        var policy = retention.policy(invocation)
        var words = ["grocerydude prune"]
        if policy.isEmpty {
            policy.counts = [.daily: 7, .weekly: 5, .monthly: 12]
            words.append(Self.suggestion)
        }
        words += retention.flags.compactMap(\.self).map { "\($0.name) \(shellWord($0.value))" }
        words += retention.keepTag.map { Advice.option("keep-tag", $0) }
        words += invocation.placeOptions + ["--set retention.keep_trash=0"]
        var options = PruneBackups.Options(policy: policy, now: invocation.now)
        options.keepsSafety = invocation.profile.keepSafety
        options.keepsTrash = .zero
        var context = invocation.context
        context.report = { _ in }
        let prune = PruneBackups(in: folder, options: options, context: context)
        let going = try await prune.plan().remove.map(\.backup.size)
        let trash = try await prune.trashPlan().remove.map(\.size)
        let bytes = (going + trash).reduce(Int64(0)) { $0.addingSaturated($1) }
        guard bytes > 0 else { return nil }
        let what = counted(going.count, "backup", "backups")
        return
            "'\(words.joined(separator: " "))' frees \(byteCount(bytes)) for good: \(what), and \(trash.count) in the trash; see them with '--dry-run' first"
    }
}

/// An error with better advice than its own.
private struct AdvisedError: ExplainedError {
    let cause: any Error
    let hint: String?

    var description: String { explain(cause) }
    var outcome: FailureOutcome { FailureOutcome(of: cause) }
}
