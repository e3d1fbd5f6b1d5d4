internal import Backups
internal import Files
internal import Operations

extension BackupCommand {
    /// How often the user's wish to stop is asked for.
    private static let step = Duration.milliseconds(200)

    /// Backs up whenever something has changed, until a signal ends it.
    ///
    /// A look that finds nothing reads no file and asks no remote. A failure is told once, and tried again at each
    /// look until it succeeds or becomes another one. A computer that slept has missed looks, and no more.
    ///
    /// - Parameters:
    ///   - pace: the time from one look to the next.
    ///   - invocation: the command's.
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
                let now = Invocation(invocation.profile, output, invocation.console)
                // Before the backup, so that no change falls between the two.
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

    /// Makes a backup, as a run of its own.
    ///
    /// - Parameters:
    ///   - invocation: that run's.
    ///   - known: the failure of the run before, which nobody is told of twice.
    /// - Returns: why there is none; `nil` if there is.
    private func attempt(_ invocation: Invocation, knowing known: String?) async -> String? {
        func fail(_ error: any Error) -> CommandResult {
            guard explain(error) == known else { return invocation.failure(error) }
            // As if a hook had wanted to wait.
            var result = CommandResult(.skipped, message: known)
            result.isUneventful = true
            return result
        }
        let result = await invocation.perform(.backup, failing: fail) {
            do {
                try await invocation.recover(recovery)
                return try await backUp(invocation)
            } catch {
                return fail(error)
            }
        }
        try? await invocation.memory.catalog.save()
        return result.isSuccess || result.status == .partial ? nil : result.message
    }

    private func wait(until end: ContinuousClock.Instant) async throws {
        while .now < end {
            try Interruption.check()
            try await Task.sleep(for: min(Self.step, end - .now))
        }
    }
}
