internal import Backups
internal import Files
internal import Operations

extension BackupCommand {
    /// The interval at which the user's wish to stop is checked.
    private static let step = Duration.milliseconds(200)

    /// Makes a backup whenever something has changed, until a signal ends it.
    ///
    /// A look without changes reads no file and contacts no remote. A failure is reported once, and retried at each
    /// look until it ends or changes. A computer that slept has only missed looks.
    ///
    /// - Parameters:
    ///   - pace: the interval between two looks.
    ///   - invocation: the command's invocation.
    /// - Returns: the signal's exit code.
    /// - Throws: `UsageError` if the options contradict each other.
    func run(every pace: Duration, _ invocation: Invocation) async throws -> CommandResult {
        let options = try options(invocation)
        var seen: String?
        var failure: String?
        do {
            while true {
                let next = ContinuousClock.now + pace
                try Interruption.check()
                let now = Invocation(invocation.profile, invocation.console)
                // The look precedes the backup, so that no change in between is missed.
                let sight = try? StoresSight(of: now.stores, as: options, at: now.now)
                if sight == nil || sight?.text != seen {
                    let news = await attempt(now, knowing: failure)
                    try Interruption.check()
                    if failure != nil, news == nil {
                        now.console.message("backups are made again")
                    }
                    failure = news
                    seen = news == nil && sight?.isSettled == true ? sight?.text : nil
                }
                if now.console.isAnswerLost { return CommandResult(.done) }
                try await wait(until: next)
            }
        } catch is CancellationError where Interruption.signalNumber != 0 {
            return CommandResult(.signalled(Interruption.signalNumber))
        }
    }

    /// Makes a backup as a separate run.
    ///
    /// - Parameters:
    ///   - invocation: the run's invocation.
    ///   - known: the failure of the previous run, which is not reported again.
    /// - Returns: the failure; `nil` if the backup was made.
    private func attempt(_ invocation: Invocation, knowing known: String?) async -> String? {
        func fail(_ error: any Error) -> CommandResult {
            guard explain(error) == known else { return invocation.failure(error) }
            // The run counts as skipped, as if a hook had skipped it.
            var result = CommandResult(.skipped, message: known)
            result.isUneventful = true
            return result
        }
        let run = CommandRun(invocation)
        let result = await run.perform(.backup, failing: fail) {
            do {
                try await run.recover(recovery)
                return try await backUp(invocation)
            } catch {
                return fail(error)
            }
        }
        try? await invocation.memory.catalog.save()
        invocation.console.finishRun()
        return result.isSuccess || result.status == .partial ? nil : result.message
    }

    private func wait(until end: ContinuousClock.Instant) async throws {
        while .now < end {
            try Interruption.check()
            try await Task.sleep(for: min(Self.step, end - .now))
        }
    }
}
