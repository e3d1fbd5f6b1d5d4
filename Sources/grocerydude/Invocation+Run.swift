internal import Backups
internal import Files
internal import Foundation
internal import Operations

extension Invocation {
    /// Runs a command's body, with the log, hooks and monitor around it if it is a logged run.
    func run(_ command: some InvokedCommand) async -> ExitStatus {
        let result =
            if let logged = command.logged {
                await perform(logged) { await attempt(command) }
            } else {
                await attempt(command)
            }
        // Only the caller of the program hears of a lost answer: the work was done.
        return console.status(after: result.status)
    }

    /// Does a run's work, with the log, hooks and monitor around it.
    ///
    /// - Parameters:
    ///   - command: what is done.
    ///   - failing: tells the error of a hook without which the work does not begin; as any error by itself.
    ///   - work: does it, and tells its own errors.
    /// - Returns: the result of `work` or `failing`.
    func perform(
        _ command: Run.Command,
        failing: ((any Error) -> CommandResult)? = nil,
        work: () async -> CommandResult
    ) async -> CommandResult {
        await makeRun(command).perform(
            context,
            backups: { try await folder().list().backups },
            failure: { failing?($0) ?? failure($0) },
            work: work
        )
    }

    /// Prints the error that ended a command, and returns the result with the error in it.
    ///
    /// A hook that wants the run skipped is no error, and is only mentioned.
    func failure(
        _ error: any Error,
        after result: CommandResult = CommandResult(.done)
    ) -> CommandResult {
        if case HookError.skipped = error {
            console.message(explain(error))
        } else {
            console.error(error)
        }
        return result.with(ExitStatus(error), explain(error))
    }

    private func attempt(_ command: some InvokedCommand) async -> CommandResult {
        let result: CommandResult
        do {
            try await recover(command.recovery)
            result = try await command.run(self)
            console.finish()
        } catch {
            result = failure(error)
        }
        // Facts from before a failure hold all the same.
        await saveCatalog()
        return result
    }

    func recover(_ recovery: Recovery) async throws {
        guard recovery != .none else { return }
        do {
            try await RecoverRestore(
                of: stores,
                announcing: announcement,
                context: context,
                fileSystem: fileSystem
            ).run()
        } catch  where recovery != .required {
            let hint = Hint.after(error).map { " (\($0))" } ?? ""
            context.report(.warning(explain(error) + hint))
        }
    }

    /// Saves the catalog; losing it costs time and no data, so it fails nothing.
    private func saveCatalog() async {
        do {
            try await memory.catalog.save()
        } catch  where output.level >= .verbose {
            console.message("the list of known backups was not saved: \(explain(error))")
        } catch {}
    }

    // MARK: - Of the profile

    private func makeRun(_ command: Run.Command) -> Run {
        var run = Run(command, stores: absolute(stores), remote: address, began: now)
        if isWithProfilesStores { run.hooks = profile[hooksFor: command] }
        if isInProfilesPlaces { run.profile = profile.name }
        // A monitor waits for backups: another command's success must not count as one.
        if command == .backup, let url = profile.pingURL, applies("ping_url") {
            run.ping = Ping(url.absoluteString, timeout: profile.pingTimeout)
        }
        if applies("metrics_file") { run.metricsFile = profile.metricsFile }
        run.log = log
        run.tellsLogTrouble = output.level >= .verbose
        noteOtherPlaces()
        return run
    }

    /// Whether a setting is meant for this run.
    ///
    /// A profile's monitor would take a backup of something else, or to somewhere else, for the one
    /// that it waits for; and a profile prunes its own folder only.
    private func applies(_ key: String) -> Bool {
        guard case .file = profile.origin(of: key) else { return true }
        return isInProfilesPlaces
    }

    /// Whether a backup prunes once it is verified.
    var prunes: Bool { profile.prunes && applies("prune") }

    /// Notes which settings of the profile do not apply, since the run is about something else.
    private func noteOtherPlaces() {
        guard !isInProfilesPlaces else { return }
        let key = isWithProfilesStores ? "remote" : "stores"
        let what = key == "stores" ? "stores directory" : "remote folder"
        context.report(
            .note(
                "'\(profile.origin(of: key))' names another \(what) than the configuration: "
                    + (key == "stores" ? "none of its commands are run, and " : "")
                    + "no monitor is told\(profile.prunes && !prunes ? ", and nothing is pruned" : "")"
            )
        )
    }

    /// Word to the application of the configuration that its stores were replaced.
    var announcement: RestoreAnnouncement {
        isWithProfilesStores ? profile.restore.announcement : RestoreAnnouncement()
    }

    /// The commands that a restore runs around the exchange.
    var applicationCommands: ApplicationCommands {
        var commands = isWithProfilesStores ? profile.restore.commands : ApplicationCommands()
        commands.timeout = profile[hooksFor: .restore].timeout
        if isInProfilesPlaces { commands.profile = profile.name }
        return commands
    }
}
