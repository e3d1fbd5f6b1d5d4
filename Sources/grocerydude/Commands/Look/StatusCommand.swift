internal import Files
internal import ArgumentParser
internal import Operations

struct StatusCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "status",
        "Show the newest backup, the last run, and work that is half done.",
        discussion: """
            Nothing is changed, not even the remains of an interrupted run. A backup whose last check found \
            damage, and one from the future, do not count as the newest.
            """,
        example: "grocerydude status --max-age 26h || echo 'no backup since yesterday'"
    )

    @OptionGroup var folder: FolderOptions

    @Option(
        help: ArgumentHelp(
            "Exit with 25 if the newest good backup is older: 26h, 8d.",
            valueName: "time"
        )
    )
    var maxAge: WaitTime?

    var recovery: Recovery { .none }
    var ownFlags: [FlagValue?] {
        [FlagValue("--max-age", "max_age", maxAge?.text)]
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let (schedule, isInstalled) = await schedule(invocation)
        let show = ShowStatus(
            of: invocation.absolute(invocation.stores),
            in: try invocation.folder(),
            nextRun: isInstalled
                ? schedule?.next(after: invocation.now, in: invocation.timeZone) : nil,
            now: invocation.now
        )
        var status = await show.run()
        // One that is named just for now is no change of folders.
        if invocation.isInProfilesPlaces {
            let profile = invocation.profile.name
            await show.lookElsewhere(&status, profile: profile, folder: invocation.folder(at:))
        }
        let state = schedule.map {
            StatusAnswer.ScheduleState(schedule: $0.description, installed: isInstalled)
        }
        try invocation.console.answer(StatusAnswer(status, state, invocation))
        for warning in status.warnings { invocation.context.report(.warning(warning)) }
        if let error = status.remoteError { throw error }
        let isFresh = invocation.profile.maxAge.map { status.isFresh(within: $0) } ?? true
        return CommandResult(isFresh ? .done : .tooOld)
    }

    /// Returns the schedule of these backups, and whether it is known to be installed.
    private func schedule(_ invocation: Invocation) async -> (Schedule?, isInstalled: Bool) {
        guard invocation.isInProfilesPlaces, let schedule = invocation.profile.schedule else {
            return (nil, false)
        }
        do {
            let isInstalled = try await ScheduleInstallation.has(.backup, of: invocation.profile)
            return (schedule, isInstalled)
        } catch {
            invocation.context.report(.warning(explain(error)))
            return (nil, false)
        }
    }
}
