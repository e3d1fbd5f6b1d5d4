internal import Backups
internal import ArgumentParser
internal import Foundation
internal import Operations

struct ScheduleShowCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        "show",
        "Show when the profile's backups are made, and by what.",
        example: "grocerydude schedule show --profile photos"
    )

    @OptionGroup var options: ScheduleOptions

    var output: OutputOptions { options.output }

    func run(on console: Console) async throws -> ExitStatus {
        console.hint(in: options.configuration.hinted)
        let profile = try options.profile()
        var rows: [ScheduleShowAnswer.Row] = []
        for command in Run.Command.scheduled {
            if let row = try await row(command, profile) { rows.append(row) }
        }
        try console.answer(ScheduleShowAnswer(profile: profile.name, jobs: rows))
        for text in try await InstalledSchedule.strays(options.configuration, options.kinds) {
            console.warn(text)
        }
        return .done
    }

    /// Returns the schedule of a command; `nil` if it has none and none is installed.
    private func row(
        _ command: Run.Command,
        _ profile: Profile
    ) async throws -> ScheduleShowAnswer.Row? {
        let name = ScheduledJob.name(command, of: profile.name)
        var installed: [(kind: ScheduleKind, files: [ScheduleFile])] = []
        for kind in options.kinds {
            let files = try await ScheduleInstallation(kind: kind).installed(name)
            if !files.isEmpty { installed.append((kind, files)) }
        }
        let program = ScheduledJob.runningProgram
        let files = installed.flatMap(\.files)
        let flags = ScheduleFile.flags(of: files)
        let inForce = flags.isEmpty ? profile : try options.profile(flags)
        let set = ScheduledJob(command, of: inForce, flags: flags, program: program)
        let job = try set ?? given(command, files, flags, program: program)
        guard job != nil || !installed.isEmpty else { return nil }
        return try ScheduleShowAnswer.Row(
            operation: command.rawValue,
            schedule: job?.schedule.description,
            isSet: set != nil,
            next: job?.schedule.next(after: Date(), in: .current)
                .map { LocalTime($0, in: .current) },
            installed: installed.map { kind, files in
                .init(
                    kind: kind.rawValue,
                    paths: files.map(\.path),
                    current: try job.map { try ScheduleFile.files($0, kind) == files } ?? false
                )
            }
        )
    }

    /// Returns the job of a schedule that exists only in its installed files.
    private func given(
        _ command: Run.Command,
        _ files: [ScheduleFile],
        _ flags: [FlagValue],
        program: String
    ) throws -> ScheduledJob? {
        // Only a schedule of backups is an option of 'install'.
        guard command == .backup, let schedule = ScheduleFile.schedule(of: files) else {
            return nil
        }
        let flag = FlagValue("--schedule", "schedule", schedule.description)
        return try ScheduledJob(
            command,
            of: options.profile(flags + [flag]),
            flags: flags,
            program: program
        )
    }
}
