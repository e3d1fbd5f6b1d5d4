internal import Backups
internal import Files
internal import Foundation
internal import Operations

extension Invocation {
    /// Runs a command's body, with log, hooks and monitor if the run is logged.
    func run(_ command: some InvokedCommand) async -> ExitStatus {
        let result =
            if let logged = command.logged {
                await perform(logged) { await attempt(command) }
            } else {
                await attempt(command)
            }
        // The lost answer affects only the exit code: the work was done.
        return console.status(after: result.status)
    }

    /// Does the work of a run, with log, hooks and monitor.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - failing: reports the error of a hook that prevents the work; by default, it is handled like any other error.
    ///   - work: does the work, and reports its own errors.
    /// - Returns: the result of `work` or `failing`.
    func perform(
        _ command: Run.Command,
        failing: ((any Error) -> CommandResult)? = nil,
        work: () async -> CommandResult
    ) async -> CommandResult {
        await makeRun(command).perform(
            context,
            backups: {
                let folder = try folder()
                return try await folder.own(folder.list().backups)
            },
            failure: { failing?($0) ?? failure($0) },
            work: work
        )
    }

    /// Prints the error that ended a command, and returns the result with that error.
    ///
    /// A hook that skips the run is no error, and is only mentioned.
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
        // Facts from before a failure are still valid.
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

    /// Saves the catalog.
    ///
    /// Losing it costs time and no data, so a failure is ignored.
    private func saveCatalog() async {
        do {
            try await memory.catalog.save()
        } catch  where output.level >= .verbose {
            console.message("the list of known backups was not saved: \(explain(error))")
        } catch {}
    }

    // MARK: - Settings of the profile

    private func makeRun(_ command: Run.Command) -> Run {
        var run = Run(command, stores: absolute(stores), remote: place, began: now)
        run.origin = origin.name
        if isWithProfilesStores { run.hooks = profile[hooksFor: command] }
        if isInProfilesPlaces { run.profile = profile.name }
        // A monitor waits for backups, so another command's success must not count.
        if command == .backup, let url = profile.pingURL, applies("ping_url") {
            run.ping = Ping(url.absoluteString, timeout: profile.pingTimeout)
        }
        if applies("metrics_file") { run.metricsFile = profile.metricsFile }
        run.log = log
        run.tellsLogTrouble = output.level >= .verbose
        noteOtherPlaces()
        return run
    }

    /// Returns whether a setting applies to this run.
    ///
    /// A profile's monitor would take a backup of other places for the awaited one. A profile prunes its own folder
    /// only.
    private func applies(_ key: String) -> Bool {
        guard case .file = profile.origin(of: key) else { return true }
        return isInProfilesPlaces
    }

    /// Whether a backup prunes after it was verified.
    var prunes: Bool { profile.prunes && applies("prune") }

    /// Reports the settings of the profile that do not apply because the run uses other places.
    private func noteOtherPlaces() {
        guard !isInProfilesPlaces else { return }
        let key = isWithProfilesStores ? "remote" : "stores"
        let what = key == "stores" ? "stores directory" : "remote folder"
        context.report(
            .note(
                "'\(profile.origin(of: key))' names another \(what) than the configuration: "
                    + (key == "stores" ? "none of its commands are run, and " : "")
                    + "no monitor is notified\(profile.prunes && !prunes ? ", and nothing is pruned" : "")"
            )
        )
    }

    /// The announcement to the configured application that its stores were replaced.
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
