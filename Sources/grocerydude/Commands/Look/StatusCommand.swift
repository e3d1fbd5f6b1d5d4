internal import Files
internal import ArgumentParser
internal import Operations

struct StatusCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "status",
        "Show the newest backup, the last run, and work that is half done.",
        discussion: """
            Nothing is changed, not even the remains of an interrupted run. A backup does not count as the newest \
            if its last check found damage, if it is from the future, or if its only time is its file's. If a newer \
            one is damaged or was made in part only, the exit code is 3.

            With '--watch', Ctrl-C ends it with exit code 130.
            """,
        example: "grocerydude status --max-age 26h || echo 'no backup since yesterday'"
    )

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    @Option(help: "Exit with 25 if the newest good backup is older: 26h, 8d.".value("time"))
    var maxAge: WaitTime?

    @OptionGroup var watch: WatchOptions

    var recovery: Recovery { .none }
    var ownFlags: [FlagValue?] {
        [FlagValue("--max-age", "max_age", maxAge?.text)]
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        if watch.isOn {
            return try await SightWatch(invocation).run { try await look($0).sight }
        }
        let (status, missed, sight) = try await look(invocation)
        try invocation.console.answer(sight.answer)
        for remark in sight.remarks { invocation.context.report(remark) }
        if let error = status.remoteError { throw error }
        guard let limit = invocation.profile.maxAge, !status.isFresh(within: limit) else {
            return CommandResult(status.isNewestDoubtful ? .partial : .done)
        }
        invocation.context.warn(staleness(status, missed, invocation))
        return CommandResult(.tooOld)
    }

    private func look(
        _ invocation: Invocation
    ) async throws -> (status: Status, missed: [MissedRun], sight: Sight) {
        let (schedules, missed) = await schedules(invocation)
        let isKnown = schedules != nil && invocation.isInProfilesPlaces
        let schedule = isKnown ? invocation.profile.schedule : nil
        let isInstalled = schedules?.ofBackups?.isThere ?? false
        let isEnabled = await schedules?.ofBackups?.isEnabled ?? false
        let folder = try invocation.folder()
        var show = ShowStatus(
            of: invocation.absolute(invocation.stores),
            in: folder,
            nextRun: isEnabled
                ? schedule?.next(after: invocation.now, in: invocation.timeZone) : nil,
            due: schedules?.ofBackups?.due,
            now: invocation.now
        )
        show.naming = { Console.shown($0) }
        var status = await show.run()
        try await lookElsewhere(&status, show, invocation)
        // A folder that does not answer is not contacted again.
        let facts = status.remoteError == nil ? try await FolderFacts(of: folder) : FolderFacts()
        let link = LinkState(facts: facts, invocation: invocation)
        let state = schedule.map {
            StatusAnswer.ScheduleState(
                schedule: $0.description,
                installed: isInstalled,
                enabled: isEnabled
            )
        }
        return (
            status,
            missed,
            Sight(
                answer: StatusAnswer(
                    status: status,
                    link: link,
                    schedule: state,
                    missed: missed,
                    invocation: invocation
                ),
                remarks: status.warnings.map { .warning($0) }
            )
        )
    }

    /// Looks into the folders of before, unless a folder was named for this run only: that is no change of folders.
    private func lookElsewhere(
        _ status: inout Status,
        _ show: ShowStatus,
        _ invocation: Invocation
    ) async throws {
        guard invocation.isInProfilesPlaces else { return }
        let used = try Configuration(folder.stores.configuration).remotes()
        await show.lookElsewhere(
            &status,
            profile: invocation.profile.name,
            used: Set(used.map(invocation.address)),
            folder: invocation.folder(at:)
        )
    }

    /// Returns the installed schedules, and their missed runs; `nil` if they are not known.
    private func schedules(
        _ invocation: Invocation
    ) async -> (installed: [InstalledSchedule]?, missed: [MissedRun]) {
        do {
            let installed = try await InstalledSchedule.all(invocation)
            return (installed, try await MissedRun.all(of: installed, invocation))
        } catch {
            invocation.context.warn("missed runs are not known: \(explain(error))")
            return (nil, [])
        }
    }

    /// Returns the reason why the newest backup is too old, in one line.
    private func staleness(
        _ status: Status,
        _ missed: [MissedRun],
        _ invocation: Invocation
    ) -> String {
        let age = status.age.map { "the newest good backup is \($0.shortText) old" }
        let suspension = invocation.suspension.map { ", and \($0)" } ?? ""
        let state = (age ?? "there is no good backup") + suspension
        guard let run = missed.first(where: { $0.command == .backup }) else {
            guard let last = status.lastBackup else { return "\(state): no run is logged" }
            return
                "\(state): the last run was at \(RunRow(entry: last, invocation: invocation).summary)"
        }
        return "\(state): \(run.summary(invocation))"
    }
}
