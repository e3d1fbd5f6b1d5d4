internal import ArgumentParser
internal import Backups
internal import Files
internal import Foundation
internal import History
internal import Operations

struct NotifyMissedCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        "missed",
        "Notify of scheduled runs that did not happen.",
        discussion: """
            A run is missed if it was due and is not in the log: the machine was off, no cron runs, the \
            schedule is gone. Each target is notified once. A block of the crontab runs this \
            every hour; systemd makes up for a missed run itself.
            """,
        example: "grocerydude notify missed --profile photos"
    )

    @OptionGroup(title: HelpSection.common) var stores: StoresOptions
    @OptionGroup(title: HelpSection.common) var output: OutputOptions

    var recovery: Recovery { .none }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let schedules = try await InstalledSchedule.all(invocation)
        let missed = try await MissedRun.all(of: schedules, invocation)
        for run in missed {
            var report = JobReport(invocation.job(run.command), .missed, at: run.due)
            report.reason = run.summary(invocation)
            report.origin = invocation.origin.name
            await invocation.notifications?.report(report, invocation.context)
        }
        return try invocation.answer(missed.map { MissedRow(run: $0, invocation: invocation) })
    }
}

struct NotifyFailedCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        "failed",
        "Notify of a run that failed, if it could not do that itself.",
        discussion: "Units of systemd run this after a failure (OnFailure=).",
        example: "grocerydude notify failed backup --profile photos",
        shouldDisplay: false
    )

    @Argument(help: "The command that failed: backup, check or sync.")
    var command: String

    @OptionGroup(title: HelpSection.common) var stores: StoresOptions
    @OptionGroup(title: HelpSection.common) var output: OutputOptions

    var recovery: Recovery { .none }

    private var failed: Run.Command? {
        Run.Command(rawValue: command).flatMap { Run.Command.scheduled.contains($0) ? $0 : nil }
    }

    func validate() throws {
        guard failed != nil else { throw ValidationError("no schedule runs '\(command)'") }
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        guard let failed, let notifications = invocation.notifications else {
            return CommandResult(.done)
        }
        let job = invocation.job(failed)
        let last = try invocation.log.lastRun(of: job)
        // A run that was killed, or could not begin, is not in the log.
        var report = JobReport(job, .failed, at: invocation.now)
        report.reason = "the run ended before it could report why"
        report.origin = invocation.origin.name
        if let last, let logged = JobReport(last), logged.condition != .good { report = logged }
        await notifications.report(report, invocation.context)
        return CommandResult(.done)
    }
}
