internal import Backups
internal import Files
internal import Foundation
internal import History
internal import Operations

/// The page of a report: HTML that needs nothing from elsewhere, and runs no script.
struct ReportPage {
    /// The beginning of every page, by which one may be replaced by the next.
    static let beginning = "<!DOCTYPE html>\n<!-- a report of grocerydude -->\n"

    var profiles: [ReportedProfile] = []
    /// The profiles of which nothing could be found out, with the reasons.
    var failures: [(profile: String, error: any Error)] = []
    let now: Date
    let timeZone: LocalZone
    /// The program and its version.
    let tool: String

    /// The complete page.
    var html: String {
        let names = profiles.map(\.title) + failures.map(\.profile)
        let title = "Backups of \(names.joined(separator: ", "))"
        let style = Markup(stringLiteral: ReportStyle.sheet)
        let page: Markup = """
            <html lang="en"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width,initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none';style-src 'unsafe-inline'">
            <meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">
            <title>\(title)</title><style>\(style)</style></head><body>
            <header><h1>\(title)</h1><p class="faint">As of \(text(now)), by \(tool). \
            Click a command to select it.</p>\(contents)</header>
            <main>\(problems)\(profiles.enumerated().map(section))</main>
            </body></html>

            """
        return Self.beginning + page.html
    }

    /// The numbers of problems and of notices of all profiles.
    var counts: (problems: Int, notices: Int) {
        let all = profiles.flatMap { $0.problems(at: now) }
        let problems = all.count(where: \.isProblem)
        return (problems + failures.count, all.count - problems)
    }

    /// Returns a moment in words: `2026-11-21 09:01`.
    func text(_ date: Date) -> String {
        String(LocalTime(date, in: timeZone).description.prefix(16))
    }

    /// Returns a command that one click selects.
    func run(_ command: String?) -> Markup? {
        command.map { "<code class=\"run\">\($0)</code>" }
    }

    /// The links to the profiles, if there are several.
    private var contents: Markup? {
        guard profiles.count > 1 else { return nil }
        let links = profiles.enumerated().map { index, profile -> Markup in
            let count = profile.problems(at: now).count(where: \.isProblem)
            let state = count == 0 ? "no problems" : counted(count, "problem", "problems")
            return "<li><a href=\"#profile-\(index)\">\(profile.title)</a>: \(state)</li>"
        }
        return "<nav aria-label=\"Profiles\"><ul>\(links)</ul></nav>"
    }

    private var problems: Markup {
        let failed = failures.map { profile, error in
            item(ReportedProblem(text: explain(error), advice: Hint.after(error)), in: profile)
        }
        let items =
            failed
            + profiles.flatMap { profile in
                profile.problems(at: now).map { item($0, in: profile.title) }
            }
        guard !items.isEmpty else {
            return "<h2 id=\"problems\">No problems</h2><p>Everything is as it should be.</p>"
        }
        return "<h2 id=\"problems\">What to look at</h2><ul class=\"problems\">\(items)</ul>"
    }

    private func item(_ problem: ReportedProblem, in profile: String) -> Markup {
        let kind: Markup =
            problem.isProblem
            ? "<li class=\"problem\"><strong>Problem</strong>" : "<li><strong>Note</strong>"
        let place: Markup? = profiles.count + failures.count > 1 ? " in \(profile)" : nil
        let advice: Markup? = problem.advice.map { "<br>\($0)" }
        let command: Markup? = run(problem.command).map { "<br>\($0)" }
        return "\(kind)\(place): \(problem.text)\(advice)\(command)</li>"
    }

    private func section(_ index: Int, _ profile: ReportedProfile) -> Markup {
        """
        <section aria-labelledby="profile-\(index)"><h2 id="profile-\(index)">\(profile.title)</h2>
        <div class="cards">\(facts(profile))\(calendar(profile))\(timeLine(profile))\(growth(profile))\
        \(checks(profile))\(origins(profile))\(devices(profile))</div>
        \(tables(profile))\(backups(profile))\(commands(profile))</section>
        """
    }

    /// Returns a part of a profile's section.
    func card(_ title: String, _ content: Markup) -> Markup {
        "<div class=\"card\"><h3>\(title)</h3>\(content)</div>\n"
    }

    /// Returns names and values.
    func list(_ rows: [(String, Markup)]) -> Markup {
        let rows = rows.map { name, value -> Markup in "<dt>\(name)</dt><dd>\(value)</dd>" }
        return "<dl>\(rows)</dl>"
    }

    // MARK: - Facts

    private func facts(_ profile: ReportedProfile) -> Markup {
        let (report, status) = (profile.report, profile.report.status)
        let missing = status.hasStores ? "" : " (not there)"
        var rows: [(String, Markup)] = [
            ("stores", "\(printable(status.stores))\(missing)"), ("folder", "\(status.remote)"),
            ("origin", "\(profile.origin)"),
        ]
        let size = report.backups.reduce(Int64(0)) { $0.addingSaturated($1.size) }
        let memory = report.unreachable == nil ? "" : ", as last seen"
        rows.append(("backups", "\(report.backups.count), \(byteCount(size))\(memory)"))
        let newest = report.unreachable == nil ? status.newest : report.own.newestGood(at: now)
        rows.append(("newest good", newest.map { backup in "\(named(backup))" } ?? "none"))
        if let run = status.lastBackup {
            let state = RunCalendar.State(exitCode: run.exitCode)
            rows.append(("last run", "\(text(run.began)), \(state.word)"))
        }
        rows.append(("schedule", schedule(profile)))
        if let next = status.nextRun { rows.append(("next run", "\(text(next))")) }
        rows.append(("restore proved", proof(profile)))
        return card("State", list(rows))
    }

    private func named(_ backup: Backup) -> Markup {
        let age = backup.age(at: now).map { ", \($0.shortText) old" } ?? ""
        return "\(backup.displayName)\(age)"
    }

    private func schedule(_ profile: ReportedProfile) -> Markup {
        guard let schedule = profile.schedule else { return "none" }
        return "\(schedule.description)\(profile.isInstalled == false ? ", not installed" : "")"
    }

    private func proof(_ profile: ReportedProfile) -> Markup {
        guard let proof = profile.report.status.proof else { return "never" }
        return "\(text(proof.time)), of \(proof.backup.map(BackupName.display) ?? "a backup")"
    }

    // MARK: - Runs

    private func calendar(_ profile: ReportedProfile) -> Markup {
        let days = profile.report.calendar.days
        let weeks = stride(from: 0, to: days.count, by: 7).map { start -> Markup in
            let week = days[start..<min(start + 7, days.count)]
            let cells = week.map(cell)
            return "<tr><th scope=\"row\">\(week.first?.text ?? "")</th>\(cells)</tr>"
        }
        let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        let head = names.map { name -> Markup in "<th scope=\"col\">\(name)</th>" }
        let key = RunCalendar.State.allCases.filter { $0 != .none }.map { state -> Markup in
            "<li><span class=\"\(state.rawValue)\">\(state.sign.page)</span> \(state.word)</li>"
        }
        return card(
            "Runs",
            """
            <table class="days"><caption>The worst run of each day</caption><thead><tr>\
            <th scope="col">Week</th>\(head)</tr></thead><tbody>\(weeks)</tbody></table>\
            <ul class="key" aria-label="Signs">\(key)</ul>\(unknownTimes(profile))
            """
        )
    }

    private func cell(_ day: RunCalendar.Day) -> Markup {
        var words = ["\(day.text): \(day.state.word)"]
        if day.runs > 0 { words.append(counted(day.runs, "run", "runs")) }
        if day.missed > 0 { words.append("\(day.missed) missed") }
        if let message = day.message { words.append(message) }
        let text = words.joined(separator: ", ")
        return """
            <td><span class="\(day.state.rawValue)" role="img" aria-label="\(text)" title="\(text)">\
            \(day.date.day) \(day.state.sign.page)</span></td>
            """
    }

    private func unknownTimes(_ profile: ReportedProfile) -> Markup? {
        guard let schedule = profile.schedule, schedule.pace == nil,
            schedule.next(after: now, in: timeZone) == nil
        else { return nil }
        return
            "<p class=\"faint\">Only the scheduler knows when '\(schedule.description)' is due: missed runs are not shown.</p>"
    }

    // MARK: - Commands

    private func commands(_ profile: ReportedProfile) -> Markup {
        let rows = [
            ("back up now", "backup"), ("get the newest back", "restore latest"),
            ("see what a restore changes", "restore latest --dry-run"),
            ("prove that it can be restored", "check --restore"), ("read all data", "check --all"),
            ("see what retention removes", "prune --dry-run"),
            ("look at the newest", "show latest"),
            ("see what changed since", "diff"), ("past runs", "log"),
        ].map { purpose, words -> (String, Markup) in
            (purpose, "\(run(profile.command(words)))")
        }
        return card("Commands", list(rows))
    }
}
