internal import Backups
internal import Files
internal import Foundation
internal import Operations

/// The run of a command's body, and what goes on around it: log, hooks, monitor and recovery.
struct CommandRun {
    let invocation: Invocation

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// Runs a command's body, with log, hooks and monitor if the run is logged.
    func run(_ command: some InvokedCommand) async -> ExitStatus {
        let result =
            if let logged = command.logged, !command.changesNothing {
                await perform(logged) { await attempt(command) }
            } else {
                await attempt(command)
            }
        invocation.console.finishRun()
        // The lost answer affects only the exit code: the work was done.
        return invocation.console.status(after: result.status)
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
            invocation.context,
            backups: {
                let folder = try invocation.folder()
                return try await folder.own(folder.list().backups)
            },
            failure: { failing?($0) ?? invocation.failure($0) },
            work: work
        )
    }

    private func attempt(_ command: some InvokedCommand) async -> CommandResult {
        let result: CommandResult
        do {
            // A killed run may have left data that its backup has only encrypted.
            if !command.changesNothing {
                ScratchDirectory.removeAbandoned(in: invocation.context.scratch)
            }
            try await recover(command.changesNothing ? .none : command.recovery)
            result = try await command.run(invocation)
            invocation.console.finish()
        } catch {
            result = invocation.failure(error)
        }
        // Facts from before a failure are still valid.
        if !command.changesNothing { await saveCatalog() }
        return result
    }

    func recover(_ recovery: Recovery) async throws {
        guard recovery != .none else { return }
        do {
            try await RecoverRestore(
                of: invocation.stores,
                announcing: invocation.announcement,
                log: invocation.log,
                context: invocation.context,
                fileSystem: invocation.fileSystem
            ).run()
        } catch  where recovery != .required {
            let hint = Hint.after(error).map { " (\($0))" } ?? ""
            invocation.context.warn(explain(error) + hint)
        }
    }

    /// Saves the catalog.
    ///
    /// Losing it costs time and no data, so a failure is ignored.
    func saveCatalog() async {
        do {
            try await invocation.memory.catalog.save()
        } catch  where invocation.console.style.level >= .verbose {
            invocation.console.message("the list of known backups was not saved: \(explain(error))")
        } catch {}
    }

    private func makeRun(_ command: Run.Command) -> Run {
        var run = Run(
            command,
            stores: invocation.absolute(invocation.stores),
            remote: invocation.place,
            began: invocation.now
        )
        run.origin = invocation.origin.name
        run.lines = invocation.profile.commandLines
        let isSuspended = command == .backup && invocation.suspension != nil
        if invocation.isWithProfilesStores, !isSuspended {
            run.hooks = invocation.profile[hooksFor: command]
        }
        if invocation.isInProfilesPlaces { run.profile = invocation.profile.name }
        // A monitor waits for backups, so another command's success must not count.
        if command == .backup, !isSuspended, let url = invocation.profile.pingURL,
            invocation.applies("ping_url")
        {
            run.ping = Ping(url.absoluteString, timeout: invocation.profile.pingTimeout)
        }
        if Run.Command.scheduled.contains(command) { run.notifications = invocation.notifications }
        if invocation.applies("metrics_file") { run.metricsFile = invocation.profile.metricsFile }
        run.log = invocation.log
        run.reportsLogTrouble = invocation.console.style.level >= .verbose
        noteOtherPlaces()
        return run
    }

    /// Reports the settings of the profile that do not apply because the run uses other places.
    private func noteOtherPlaces() {
        guard !invocation.isInProfilesPlaces else { return }
        let key = invocation.isWithProfilesStores ? "remote" : "stores"
        let what = key == "stores" ? "stores directory" : "remote folder"
        invocation.context.note(
            "'\(invocation.profile.origin(of: key))' names another \(what) than the configuration: "
                + (key == "stores" ? "none of its commands are run, and " : "")
                + "no monitor is notified\(invocation.profile.prunes && !invocation.prunes ? ", and nothing is pruned" : "")"
        )
    }
}
