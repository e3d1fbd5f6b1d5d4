internal import ArgumentParser
internal import Foundation
internal import Operations

struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Have backups made by the clock: systemd, cron or launchd.",
        discussion: """
            EXAMPLE
              grocerydude schedule install --profile photos
              grocerydude schedule show --profile photos

            \(ExitStatus.help)
            """,
        subcommands: [Install.self, Remove.self, Show.self]
    )

    /// What all of them can be told.
    struct Options: ParsableArguments {
        @OptionGroup var configuration: ConfigurationOptions
        @OptionGroup var output: OutputOptions

        @Option(
            help: ArgumentHelp(
                "What runs it: \(ScheduleKind.allCases.map(\.rawValue).joined(separator: ", ")); else what this machine has.",
                valueName: "kind"
            )
        )
        var kind: ScheduleKind?

        /// Which kinds to look at: the one that is named, or all.
        var kinds: [ScheduleKind] { kind.map { [$0] } ?? ScheduleKind.allCases }

        func profile(_ flags: [FlagValue] = []) throws -> Profile {
            try Configuration(configuration).profile(flags)
        }
    }

    /// A file in JSON.
    struct FileAnswer: Encodable {
        var path: String
        var text: String

        init(_ file: ScheduleFile) {
            path = file.path
            text = file.text
        }
    }

    struct Install: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "install",
            abstract: "Have the profile's backups made by the clock.",
            discussion: """
                The schedule is the profile's 'schedule': \(Schedule.examples); 'check.schedule' is \
                for checks. What another installation of the profile left is replaced.

                EXAMPLE
                  grocerydude schedule install --profile photos --dry-run
                  grocerydude schedule install --schedule 'daily 03:30' --kind cron

                \(ExitStatus.help)
                """
        )

        @OptionGroup var options: Options

        @Option(help: ArgumentHelp("When to make backups; else the profile's.", valueName: "when"))
        var schedule: String?

        @Flag(help: "Write the files, and start nothing.")
        var noEnable = false

        @Flag(
            name: [.customShort("n"), .long],
            help: "Print what would be written, and do nothing."
        )
        var dryRun = false

        func validate() throws {
            if let schedule, Schedule(schedule) == nil {
                throw ValidationError(
                    "'\(schedule)' is no schedule: it must be such as \(Schedule.examples)"
                )
            }
        }

        func run() async throws {
            let console = Console(options.output)
            try await Session.reporting(to: console) {
                let profile = try options.profile(
                    [FlagValue("--schedule", "schedule", schedule)].compactMap(\.self)
                )
                let kind = try options.kind ?? ScheduleKind.detected()
                let program = ScheduledJob.runningProgram
                let jobs = ScheduledJob.Operation.allCases.compactMap {
                    ScheduledJob($0, of: profile, program: program)
                }
                guard !jobs.isEmpty else {
                    throw ScheduleError.noSchedule(profile: profile.name, file: profile.file)
                }
                let files = try jobs.flatMap { try ScheduleFile.files($0, kind) }
                if !dryRun { try await install(jobs, of: profile, kind) }
                try tell(files, jobs, profile, kind, console)
                return 0
            }
        }

        private func install(
            _ jobs: [ScheduledJob],
            of profile: Profile,
            _ kind: ScheduleKind
        ) async throws {
            let installation = ScheduleInstallation(kind: kind, enables: !noEnable)
            for job in jobs { try await installation.install(job) }
            for operation in ScheduledJob.Operation.allCases
            where !jobs.contains(where: { $0.operation == operation }) {
                _ = try await installation.uninstall(ScheduledJob.name(operation, of: profile))
            }
        }

        private func tell(
            _ files: [ScheduleFile],
            _ jobs: [ScheduledJob],
            _ profile: Profile,
            _ kind: ScheduleKind,
            _ console: Console
        ) throws {
            if options.output.json {
                let answer = Answer(
                    profile: profile.name,
                    kind: kind.rawValue,
                    files: files.map(FileAnswer.init),
                    dryRun: dryRun
                )
                return try console.answer(json: answer)
            }
            guard !dryRun else {
                for file in files {
                    console.answer("# \(file.path)")
                    console.answerText(file.text + "\n")
                }
                return
            }
            for job in jobs {
                console.done("installed '\(job.name)' for \(kind.rawValue): \(job.schedule)")
            }
            if kind == .systemdUser, !noEnable {
                console.message(
                    "it runs while you are logged in; 'loginctl enable-linger' has it run always"
                )
            }
        }

        /// The answer in JSON.
        private struct Answer: Encodable {
            var profile: String?
            var kind: String
            var files: [FileAnswer]
            var dryRun: Bool
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Have the profile's backups made by the clock no longer.",
            discussion: """
                EXAMPLE
                  grocerydude schedule remove --profile photos

                \(ExitStatus.help)
                """
        )

        @OptionGroup var options: Options

        @Flag(help: "Remove the files, and stop nothing.")
        var noEnable = false

        @Flag(name: [.customShort("n"), .long], help: "Say what would happen, and do nothing.")
        var dryRun = false

        func run() async throws {
            let console = Console(options.output)
            try await Session.reporting(to: console) {
                let profile = try options.profile()
                var removed: [String] = []
                for kind in options.kinds {
                    let installation = ScheduleInstallation(kind: kind, enables: !noEnable)
                    for operation in ScheduledJob.Operation.allCases {
                        let name = ScheduledJob.name(operation, of: profile)
                        let paths =
                            try await dryRun
                            ? installation.installed(name).map(\.path)
                            : installation.uninstall(name)
                        removed += paths.map { $0 == ScheduleFile.crontab ? "\($0): \(name)" : $0 }
                    }
                }
                if options.output.json {
                    try console.answer(
                        json: Answer(profile: profile.name, removed: removed, dryRun: dryRun)
                    )
                } else {
                    let tell = dryRun ? console.answer : console.done
                    for path in removed {
                        tell("\(dryRun ? "would remove" : "removed") '\(path)'")
                    }
                    if removed.isEmpty { console.message("nothing is installed") }
                }
                return 0
            }
        }

        /// The answer in JSON.
        private struct Answer: Encodable {
            var profile: String?
            var removed: [String]
            var dryRun: Bool
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show when the profile's backups are made, and by what.",
            discussion: """
                EXAMPLE
                  grocerydude schedule show --profile photos

                \(ExitStatus.help)
                """
        )

        @OptionGroup var options: Options

        func run() async throws {
            let console = Console(options.output)
            try await Session.reporting(to: console) {
                let profile = try options.profile()
                var rows: [Row] = []
                for operation in ScheduledJob.Operation.allCases {
                    if let row = try await row(operation, profile) { rows.append(row) }
                }
                if options.output.json {
                    try console.answer(json: Answer(profile: profile.name, jobs: rows))
                } else {
                    for row in rows { tell(row, console) }
                    if rows.isEmpty {
                        console.message("there is no schedule, and none is installed")
                    }
                }
                return 0
            }
        }

        private func row(
            _ operation: ScheduledJob.Operation,
            _ profile: Profile
        ) async throws -> Row? {
            let job = ScheduledJob(operation, of: profile, program: ScheduledJob.runningProgram)
            var places: [Place] = []
            for kind in options.kinds {
                let files = try await ScheduleInstallation(kind: kind)
                    .installed(ScheduledJob.name(operation, of: profile))
                guard !files.isEmpty else { continue }
                let isCurrent = try job.map { try ScheduleFile.files($0, kind) == files } ?? false
                places.append(
                    Place(kind: kind.rawValue, paths: files.map(\.path), current: isCurrent)
                )
            }
            guard job != nil || !places.isEmpty else { return nil }
            return Row(
                operation: operation.rawValue,
                schedule: job?.schedule.description,
                next: job?.schedule.next(after: Date(), in: .current)
                    .map { RFC3339.text($0, in: .current) },
                installed: places
            )
        }

        private func tell(_ row: Row, _ console: Console) {
            let next = row.next.map {
                ", next \($0.prefix(19).replacingOccurrences(of: "T", with: " "))"
            }
            console.answer("\(row.operation)  \(row.schedule ?? "no schedule")\(next ?? "")")
            for place in row.installed {
                console.answer("  \(place.kind): \(place.paths.joined(separator: ", "))")
                if !place.current {
                    console.message(
                        "warning: what is installed for \(place.kind) is not what is set: "
                            + "run 'grocerydude schedule \(row.schedule == nil ? "remove" : "install")'"
                    )
                }
            }
            if row.installed.isEmpty {
                console.answer("  not installed: 'grocerydude schedule install' does that")
            }
        }

        /// The answer in JSON.
        private struct Answer: Encodable {
            var profile: String?
            var jobs: [Row]
        }

        private struct Row: Encodable {
            var operation: String
            var schedule: String?
            var next: String?
            var installed: [Place]
        }

        private struct Place: Encodable {
            var kind: String
            var paths: [String]
            /// Whether it is what would be installed now.
            var current: Bool
        }
    }
}
