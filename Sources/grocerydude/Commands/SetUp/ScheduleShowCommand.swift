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
        let profile = try options.profile()
        var rows: [ScheduleShowAnswer.Row] = []
        for command in Run.Command.scheduled {
            if let row = try await row(command, profile) { rows.append(row) }
        }
        try console.answer(ScheduleShowAnswer(profile: profile.name, jobs: rows))
        return .done
    }

    /// Returns the schedule of a command; `nil` if it has none and none is installed.
    private func row(
        _ command: Run.Command,
        _ profile: Profile
    ) async throws -> ScheduleShowAnswer.Row? {
        let job = ScheduledJob(command, of: profile, program: ScheduledJob.runningProgram)
        var places: [ScheduleShowAnswer.Place] = []
        for kind in options.kinds {
            let files = try await ScheduleInstallation(kind: kind)
                .installed(ScheduledJob.name(command, of: profile))
            guard !files.isEmpty else { continue }
            let isCurrent = try job.map { try ScheduleFile.files($0, kind) == files } ?? false
            places.append(.init(kind: kind.rawValue, paths: files.map(\.path), current: isCurrent))
        }
        guard job != nil || !places.isEmpty else { return nil }
        return ScheduleShowAnswer.Row(
            operation: command.rawValue,
            schedule: job?.schedule.description,
            next: job?.schedule.next(after: Date(), in: .current)
                .map { LocalTime($0, in: .current) },
            installed: places
        )
    }
}
