internal import ArgumentParser
internal import Files
internal import Operations
internal import SystemPackage

struct SetupCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "setup",
        "Ask what to back up, where to and how often, and set all of it up.",
        discussion: """
            On a terminal it asks what no option says: the directory, the folder, encryption, how often, \
            how long, and whom to notify. It shows its plan before it begins. Then it links the folder, makes \
            the key, writes the settings into 'config.d/PROFILE.yaml', makes the first backup, tries the key \
            and a restore of it, and schedules the next ones. Each step is a command that it shows. Run it \
            again to change the settings. It puts no backups among other data.

            In scripts, '--yes' begins without a question; the present settings answer what no option does.
            """,
        example: "grocerydude setup",
        "grocerydude setup --stores /srv/app/data --remote /mnt/nas/app --encrypt --keep year --yes",
        "grocerydude setup --profile photos --dry-run"
    )

    @OptionGroup(title: HelpSection.common) var stores: StoresOptions
    @OptionGroup(title: HelpSection.common) var remote: RemoteOptions
    @OptionGroup(title: HelpSection.common) var output: OutputOptions
    @OptionGroup var answers: SetupOptions
    @OptionGroup var scheduler: SchedulerOption

    @Flag(name: [.customShort("n"), .long], help: "Only show what would happen.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Ask nothing.")
    var yes = false

    func run(on console: Console) async throws -> ExitStatus {
        // Two setups at a time could each undo a part of the other.
        let state = FilePath(ProcessEnvironment.state + "/grocerydude")
        try LocalFileSystem().createDirectories(state)
        return try await FileLock.withLock(on: state, wait: remote.lockWait?.duration ?? .zero) {
            try await setUp(on: console)
        }
    }

    private func setUp(on console: Console) async throws -> ExitStatus {
        let site = try SetupSite(stores, scheduler.kind, console)
        let asks = console.canAsk && !yes && !output.json
        let questions = SetupQuestions(
            site: site,
            options: answers,
            given: (stores.path, remote.address),
            asks: asks
        )
        let more =
            stores.settings + [FlagValue("--origin", "origin", stores.origin)].compactMap(\.self)
        let plan = try await SetupPlan(questions.answers(), at: site, with: more, showsKey: asks)
        var run = SetupRun(plan, output, console)
        guard !dryRun else {
            try console.answer(SetupAnswer(plan: plan, done: [], left: run.left, isDryRun: true))
            return .done
        }
        if !yes { show(plan, run.left, on: console) }
        guard try site.invocation.confirm("Do all of this?", yes: yes) else { return .failed }
        var status = await run.run()
        if run.left.isEmpty { status = .worse(status, try warn(of: plan, console)) }
        let settings = try LinkedPlace(site.options, mayBeMissing: true).shownPiece
        try console.answer(
            SetupAnswer(plan: plan, done: run.done, left: run.left, settings: settings)
        )
        if !run.left.isEmpty {
            console.note("to go on, run: \(plan.command)")
        }
        return status
    }

    private func show(_ plan: SetupPlan, _ steps: [String], on console: Console) {
        console.note("this will be done:")
        for (number, step) in steps.enumerated() { console.note("\(number + 1). \(step)") }
        if !plan.changes.isEmpty { console.note("the settings that change:") }
        for line in plan.changeLines { console.note("  \(line)") }
        if plan.site.kind == nil { console.warn(explain(ScheduleError.noKind)) }
    }

    /// Reports which parts of a setup this machine lacks, and returns the exit code of that.
    private func warn(of plan: SetupPlan, _ console: Console) throws -> ExitStatus {
        if try plan.answers.encrypts && !plan.site.opensBackups {
            console.warn(
                "no key here opens the backups: run 'grocerydude key check latest' on a machine that has the key"
            )
        }
        guard plan.site.kind == nil else { return .done }
        console.warn("\(ScheduleError.noKind): no further backup is made automatically")
        return .partial
    }
}
