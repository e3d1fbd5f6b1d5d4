internal import Backups
internal import Files
internal import Foundation
internal import History
internal import Operations
internal import Sync

/// A profile in a report: what was gathered of it, and the settings that give it a meaning.
struct ReportedProfile {
    let report: ProfileReport
    /// The name of this machine and stores directory.
    let origin: String
    let maxAge: Duration?
    let schedule: Schedule?
    /// Whether a scheduler runs it; `nil` if there is none to run, or if it is not known.
    let isInstalled: Bool?
    /// The options by which a command means this profile.
    let options: [String]

    /// The name by which people know it.
    var title: String { report.profile ?? printable(report.status.stores) }

    /// Returns a command of this program for the profile.
    ///
    /// - Parameters:
    ///   - words: the command, and options without names in them.
    ///   - names: the names of backups.
    /// - Returns: the command as a person types it.
    func command(_ words: String, _ names: String...) -> String {
        // These commands know no folder of backups.
        let isOfFolder = !["log", "sync", "schedule"].contains { words.hasPrefix($0) }
        let options = options.filter { isOfFolder || !$0.hasPrefix("--remote") }
        let separator = names.contains { $0.hasPrefix("-") } ? ["--"] : []
        return (["grocerydude", words] + options + separator + names.map { shellWord($0) })
            .joined(separator: " ")
    }
}

extension ReportedProfile {
    /// Gathers what a report shows of an invocation's profile.
    ///
    /// - Throws: `FileError` if a staging directory cannot be created; `CancellationError`.
    init(_ invocation: Invocation) async throws {
        let profile = invocation.profile
        var retention = PruneBackups.Options(policy: profile.retention, now: invocation.now)
        retention.keepsSafety = profile.keepSafety
        retention.keepsTrash = profile.keepTrash
        var options = GatherReport.Options(retention: retention, sidecars: SyncInputs.sidecars)
        options.profile = profile.name
        options.isSyncOff = !profile.sync.isEnabled
        let schedule = invocation.isInProfilesPlaces ? profile.schedule : nil
        var isInstalled: Bool?
        var gap: String?
        if schedule != nil {
            do {
                let installed = try await InstalledSchedule.all(invocation).ofBackups
                isInstalled = installed?.isThere ?? false
                options.due = installed?.due
            } catch {
                gap = "whether the schedule is installed is not known: \(explain(error))"
            }
        }
        if isInstalled == true {
            options.nextRun = schedule?.next(after: invocation.now, in: invocation.timeZone)
        }
        let gather = GatherReport(
            of: invocation.absolute(invocation.stores),
            in: try invocation.folder(),
            options: options,
            context: invocation.context
        )
        var report = try await gather.run()
        report.gaps += [gap].compactMap(\.self)
        self.init(
            report: report,
            origin: invocation.origin.name,
            maxAge: profile.maxAge,
            schedule: schedule,
            isInstalled: isInstalled,
            options: invocation.placeOptions
        )
    }
}

/// Something that a person should know first, and the command that helps.
struct ReportedProblem {
    /// Whether it needs to be done something about; other ones are notices.
    var isProblem = true
    var text: String
    /// A command to copy.
    var command: String?
    /// Advice in words.
    var advice: String?
}

extension ReportedProfile {
    /// The number of damaged backups that are named one by one.
    private static let namedDamage = 5
    /// The time in seconds for which a jump of a table, or a missed run, is news.
    private static let newsTime: TimeInterval = 7 * 86_400

    /// The problems and notices, the most important first.
    func problems(at now: Date) -> [ReportedProblem] {
        var all = stateProblems + ageProblems + runProblems(at: now) + damageProblems(at: now)
        let known = Set(all.map(\.text.exact))
        all += report.status.warnings.filter { !known.contains($0.exact) }.map {
            ReportedProblem(isProblem: false, text: $0)
        }
        all += upkeepProblems + syncProblems + jumpNotices(at: now)
        all += report.status.remarks.map { ReportedProblem(isProblem: false, text: $0) }
        return all.filter(\.isProblem) + all.filter { !$0.isProblem }
    }

    /// The problems of the folder and of operations that are half done.
    private var stateProblems: [ReportedProblem] {
        let status = report.status
        var problems: [ReportedProblem] = []
        if let error = report.unreachable {
            problems.append(
                ReportedProblem(
                    text:
                        "the folder cannot be reached, and all is shown as it was last seen: \(explain(error))",
                    command: command("status"),
                    advice: Hint.after(error)
                )
            )
        }
        problems += status.findings.map {
            ReportedProblem(isProblem: $0.kind != .running, text: $0.what, advice: $0.remedy)
        }
        problems += report.gaps.map { ReportedProblem(text: $0) }
        if !status.waiting.isEmpty {
            let count = counted(status.waiting.count, "backup waits", "backups wait")
            problems.append(
                ReportedProblem(
                    text: "\(count) on this machine for upload",
                    command: command("copy --waiting")
                )
            )
        }
        return problems
    }

    private var ageProblems: [ReportedProblem] {
        let status = report.status
        guard report.unreachable == nil else { return [] }
        guard let newest = status.newest else {
            return [ReportedProblem(text: "there is no good backup", command: command("backup"))]
        }
        guard let maxAge, !status.isFresh(within: maxAge), let age = status.age else { return [] }
        let text =
            "'\(newest.displayName)', the newest good backup, is \(age.shortText) old; the limit is \(maxAge.shortText)"
        return [ReportedProblem(text: text, command: command("backup"))]
    }

    private func runProblems(at now: Date) -> [ReportedProblem] {
        var problems: [ReportedProblem] = []
        let last = report.status.lastBackup
        if let last, ![.done, .skipped].contains(RunCalendar.State(exitCode: last.exitCode)) {
            let reason = last.message.map { ": \($0)" } ?? ""
            let what = last.exitCode == ExitStatus.partial.rawValue ? "was done in part" : "failed"
            problems.append(
                ReportedProblem(
                    text: "the last backup \(what)\(reason)",
                    command: command("backup")
                )
            )
        }
        if let schedule, isInstalled == false {
            problems.append(
                ReportedProblem(
                    text: "the schedule '\(schedule)' is not installed: nothing runs it",
                    command: command("schedule install")
                )
            )
        }
        let missed = report.calendar.missed.filter { now.timeIntervalSince($0) < Self.newsTime }
        if let latest = missed.last {
            let count = counted(missed.count, "scheduled backup was", "scheduled backups were")
            problems.append(
                ReportedProblem(
                    isProblem: last.map { $0.began < latest } ?? true,
                    text:
                        "\(count) missed in the last week, the latest of \(LocalTime(latest, in: .current))",
                    command: command("schedule show")
                )
            )
        }
        return problems
    }

    private func damageProblems(at now: Date) -> [ReportedProblem] {
        let damaged = report.backups.compactMap { backup in
            backup.damage == nil ? nil : backup.warning(at: now).map { (backup, $0) }
        }
        var problems = damaged.prefix(Self.namedDamage).map {
            ReportedProblem(text: $1, command: command("check", $0.name))
        }
        if damaged.count > Self.namedDamage {
            problems.append(
                ReportedProblem(
                    text:
                        "\(damaged.count - Self.namedDamage) more backups are damaged, or cannot be read",
                    command: command("check --all")
                )
            )
        }
        return problems
    }

    private var upkeepProblems: [ReportedProblem] {
        var problems: [ReportedProblem] = []
        if let refusal = report.plan?.refusal {
            problems.append(
                ReportedProblem(
                    text: "nothing is removed by the retention policy: \(refusal)",
                    command: command("prune --dry-run")
                )
            )
        }
        if report.status.proof == nil, !report.own.isEmpty {
            problems.append(
                ReportedProblem(
                    isProblem: false,
                    text: "no restore of these backups was ever proved",
                    command: command("check --restore")
                )
            )
        }
        return problems
    }

    private var syncProblems: [ReportedProblem] {
        report.synced.compactMap { store in
            guard store.overview.state != .inStep else { return nil }
            let words =
                store.overview.decisionText
                ?? store.overview.state.rawValue.replacing("_", with: " ")
            return ReportedProblem(
                isProblem: store.overview.state == .needsDecision,
                text: "sync of '\(store.store)': \(words)",
                command: command("sync status")
            )
        }
    }

    private func jumpNotices(at now: Date) -> [ReportedProblem] {
        report.trends.compactMap { trend in
            guard
                let jump = trend.jumps.last(where: {
                    now.timeIntervalSince($0.after.time) < Self.newsTime
                }),
                jump.after.rows < jump.before.rows
            else { return nil }
            return ReportedProblem(
                isProblem: false,
                text:
                    "'\(trend.table)' in '\(trend.store)' fell from \(grouped(jump.before.rows)) to \(grouped(jump.after.rows)) rows",
                command: command("diff", jump.before.backup, jump.after.backup)
            )
        }
    }
}
