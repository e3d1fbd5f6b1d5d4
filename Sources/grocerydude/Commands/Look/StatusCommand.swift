internal import ArgumentParser
internal import Files
internal import Operations
internal import Stores

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show how things stand: the newest backup, the last run, what is half done.",
        discussion: """
            It leaves all as it is, even what an interrupted run left. A backup whose last check found \
            damage, and one from the future, do not count as the newest.

            EXAMPLE
              grocerydude status --max-age 26h || echo 'no backup since yesterday'

            \(ExitStatus.help)
            """
    )

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var output: OutputOptions

    @Option(
        help: ArgumentHelp(
            "Exit with 25 where the newest good backup is older: 26h, 8d.",
            valueName: "time"
        )
    )
    var maxAge: WaitTime?

    func run() async throws {
        let flags = [FlagValue("--max-age", "max_age", maxAge?.text)].compactMap(\.self)
        try await Session.run(output, stores, remote, flags: flags, recovers: false) { session in
            let maxAge = session.profile.maxAge
            let (schedule, isInstalled) = await schedule(session)
            let status = await ShowStatus(
                of: session.absolute(session.stores),
                in: try session.remote(),
                catalog: session.catalog,
                log: session.log,
                nextRun: isInstalled
                    ? schedule?.next(after: session.now, in: session.timeZone) : nil,
                now: session.now,
                timeZone: session.timeZone
            ).run()
            if output.json {
                try session.console.answer(
                    json: Answer(status, maxAge, schedule.map { .init($0, isInstalled) }, session)
                )
            } else {
                show(status, isInstalled ? nil : schedule, session)
            }
            for warning in status.warnings { session.context.report(.warning(warning)) }
            if let error = status.remoteError { throw error }
            return maxAge.map { status.isFresh(within: $0) } ?? true ? .done : .tooOld
        }
    }

    /// What is to make backups of these stores in this folder, and whether it is known to be installed.
    private func schedule(_ session: Session) async -> (Schedule?, isInstalled: Bool) {
        guard session.isInProfilesPlaces, let schedule = session.profile.schedule else {
            return (nil, false)
        }
        do {
            return (schedule, try await ScheduleInstallation.has(.backup, of: session.profile))
        } catch {
            session.context.report(.warning(explain(error)))
            return (nil, false)
        }
    }

    private func show(_ status: Status, _ notInstalled: Schedule?, _ session: Session) {
        let console = session.console
        func line(_ name: String, _ text: String) {
            console.answer(name.padding(toAtLeast: 12) + text)
        }
        line("stores", printable(status.stores) + (status.hasStores ? "" : " (not there)"))
        line("remote", status.remote)
        if status.remoteError == nil {
            line("backups", "\(status.backups), \(byteCount(status.size))")
            let age = status.age.map { ", \(shortText($0)) old" } ?? ""
            line("newest", (status.newest?.displayName ?? "none that is good") + age)
        }
        if let run = status.lastBackup { line("last run", text(run, session)) }
        if let run = status.lastRun, run != status.lastBackup {
            line("since", "\(run.command), \(text(run, session))")
        }
        if let next = status.nextRun { line("next run", session.text(next)) }
        if let schedule = notInstalled {
            line("next run", "none: '\(schedule)' is not installed")
            line("", "run 'grocerydude schedule install'")
        }
        for finding in status.findings {
            line(finding.kind.rawValue, finding.what)
            if let remedy = finding.remedy { line("", remedy) }
        }
    }

    private func text(_ run: RunLog.Entry, _ session: Session) -> String {
        let result =
            run.exitCode == 0
            ? "done" : "exit code \(run.exitCode)" + (run.message.map { ": \($0)" } ?? "")
        return "\(session.text(run.began)), \(result)"
    }

    /// The answer in JSON.
    private struct Answer: Encodable {
        struct Newest: Encodable {
            var name: String
            var time: String?
            var size: Int64
            var ageSeconds: Double?
        }

        struct Finding: Encodable {
            var kind: String
            var what: String
            var remedy: String?
        }

        struct ScheduleState: Encodable {
            var schedule: String
            /// Whether anything runs it.
            var installed: Bool

            init(_ schedule: Schedule, _ isInstalled: Bool) {
                self.schedule = schedule.description
                installed = isInstalled
            }
        }

        var stores: String
        var storesExist: Bool
        var remote: String
        var remoteError: String?
        var backups: Int?
        var size: Int64?
        var newest: Newest?
        var isFresh: Bool?
        var lastBackup: RunSummary?
        var lastRun: RunSummary?
        var schedule: ScheduleState?
        var nextRun: String?
        var findings: [Finding]
        var warnings: [String]

        init(
            _ status: Status,
            _ maxAge: Duration?,
            _ schedule: ScheduleState?,
            _ session: Session
        ) {
            self.schedule = schedule
            stores = printable(status.stores)
            storesExist = status.hasStores
            remote = status.remote
            remoteError = status.remoteError.map { explain($0) }
            if status.remoteError == nil {
                backups = status.backups
                size = status.size
            }
            newest = status.newest.map { backup in
                Newest(
                    name: backup.name,
                    time: backup.time.map { RFC3339.text($0, in: session.timeZone) },
                    size: backup.size,
                    ageSeconds: status.age?.inSeconds
                )
            }
            isFresh = maxAge.map { status.isFresh(within: $0) }
            lastBackup = status.lastBackup.map { RunSummary($0, session) }
            lastRun = status.lastRun.map { RunSummary($0, session) }
            nextRun = status.nextRun.map { RFC3339.text($0, in: session.timeZone) }
            findings = status.findings.map {
                Finding(kind: $0.kind.rawValue, what: $0.what, remedy: $0.remedy)
            }
            warnings = status.warnings
        }
    }
}
