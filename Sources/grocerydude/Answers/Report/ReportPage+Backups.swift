internal import Backups
internal import Files
internal import Foundation
internal import History
internal import Operations
internal import Sync

// The backups of a profile: over time, by table, by origin, and one by one.
extension ReportPage {
    /// The number of backups that are shown at once; the others are folded away.
    private static let shownBackups = 50
    /// The number of jumps that are shown for each table, the latest ones.
    private static let shownJumps = 3

    // MARK: - Time

    func timeLine(_ profile: ReportedProfile) -> Markup? {
        let report = profile.report
        guard let chart = ReportChart(report.backups.compactMap(\.ownTime), in: timeZone) else {
            return nil
        }
        func lane(_ title: String, _ backups: [Backup]) -> Markup? {
            guard !backups.isEmpty else { return nil }
            let times = backups.compactMap(\.ownTime)
            let label = "\(title): \(counted(backups.count, "backup", "backups"))"
            return
                "<figure><figcaption>\(label)</figcaption>\(chart.lane(times, label: label))</figure>"
        }
        let damaged = report.backups.filter { $0.trouble == .damaged }
        let lanes: [Markup?] =
            if let plan = report.plan {
                [
                    lane("kept by the next prune", plan.keep.map(\.backup)),
                    lane("removed by the next prune", plan.remove.map(\.backup)),
                ]
            } else {
                [lane("no retention policy, all kept", report.backups)]
            }
        return card(
            "Backups over time",
            """
            \(lanes.compactMap(\.self))\([lane("damaged", damaged)].compactMap(\.self))\(chart.ends)\
            <p class="faint">The reason for each is in the list below.</p>
            """
        )
    }

    func growth(_ profile: ReportedProfile) -> Markup? {
        let own = profile.report.own.reversed().compactMap { backup in
            backup.ownTime.map { (time: $0, backup: backup) }
        }
        guard let chart = ReportChart(own.map(\.time), in: timeZone) else { return nil }
        let stores = own.compactMap { point in
            point.backup.summary.extent.map { (time: point.time, value: $0.bytes) }
        }
        let archives = own.map { (time: $0.time, value: $0.backup.size) }
        let pictures = [("stores", stores, false), ("archive of each backup", archives, true)].map {
            title,
            values,
            isOfBars in
            figure(title, values, isOfBars, chart)
        }
        return card("Growth", "\(pictures.compactMap(\.self))\(chart.ends)")
    }

    private func figure(
        _ title: String,
        _ values: [(time: Date, value: Int64)],
        _ isOfBars: Bool,
        _ chart: ReportChart
    ) -> Markup? {
        guard let first = values.first, let last = values.last else { return nil }
        let most = values.map(\.value).max() ?? 0
        let label =
            "\(title): \(byteCount(first.value)) at first, now \(byteCount(last.value)), at most \(byteCount(most))"
        let picture = chart.picture(values, isOfBars: isOfBars, label: label)
        return "<figure><figcaption>\(label)</figcaption>\(picture)</figure>"
    }

    // MARK: - Tables

    func tables(_ profile: ReportedProfile) -> Markup? {
        let trends = profile.report.trends
        guard !trends.isEmpty else { return nil }
        let times = trends.flatMap { $0.points.map(\.time) }
        let chart = ReportChart(times, in: timeZone)
        let parts = trends.map { trend -> Markup in
            let title: Markup = """
                <h4>\(trend.table) <span class="faint">in \(trend.store)</span></h4>
                """
            return "<div>\(title)\(rows(trend, chart, profile))</div>"
        }
        return card("Rows of the largest tables", "<div class=\"trends\">\(parts)</div>")
    }

    private func rows(
        _ trend: TableTrend,
        _ chart: ReportChart?,
        _ profile: ReportedProfile
    ) -> Markup {
        let now = trend.points.last.map { grouped($0.rows) } ?? "?"
        guard let chart, Set(trend.points.map(\.rows)).count > 1 else {
            return "<p class=\"faint\">\(now) rows in each backup</p>"
        }
        let jumps = trend.jumps
        let words = "\(now) rows now, \(counted(jumps.count, "jump", "jumps"))"
        let picture = chart.picture(
            trend.points.map { (time: $0.time, value: $0.rows) },
            jumps: jumps.map(\.after.time),
            label: "\(trend.table): \(words)"
        )
        let items = jumps.suffix(Self.shownJumps).reversed().map { item($0, profile) }
        let list: Markup? = items.isEmpty ? nil : "<ul>\(items)</ul>"
        return "<figure><figcaption>\(words)</figcaption>\(picture)\(chart.ends)</figure>\(list)"
    }

    private func item(_ jump: TableTrend.Jump, _ profile: ReportedProfile) -> Markup {
        let percent = jump.percent.map { share in
            let rounded = Int64(min(max(share.rounded(), -1e9), 1e9))
            return ", \(rounded > 0 ? "+" : "")\(grouped(rounded)) %"
        }
        let command = profile.command("diff", jump.before.backup, jump.after.backup)
        return """
            <li>\(text(jump.after.time)): \(grouped(jump.before.rows)) → \(grouped(jump.after.rows)) \
            rows\(percent ?? "")<br>\(run(command))</li>
            """
    }

    // MARK: - Checks, origins

    func checks(_ profile: ReportedProfile) -> Markup? {
        let backups = profile.report.backups
        guard !backups.isEmpty else { return nil }
        let depths = backups.map { $0.checks.deepest?.depth }
        let words: [(RunLog.Check.Depth?, String)] = [
            (.restore, "restored on trial"), (.data, "all data read"), (.part, "a part read"),
            (nil, "never checked"),
        ]
        var rows = words.map { depth, word -> (String, Markup) in
            (word, "\(depths.count { $0 == depth })")
        }
        let damaged = backups.count { $0.trouble == .damaged }
        if damaged > 0 { rows.append(("damaged", "\(damaged)")) }
        let last = backups.compactMap(\.checks.last).max { $0.time < $1.time }
        rows.append(("last check", last.map { "\(text($0.time)), \($0.depth.word)" } ?? "never"))
        return card(
            "Checks",
            "\(list(rows))<p class=\"faint\">Each backup by its deepest check that found no damage.</p>"
        )
    }

    func origins(_ profile: ReportedProfile) -> Markup? {
        let groups = Dictionary(grouping: profile.report.backups) { backup in
            (backup.distrust.map { _ in Backup.Distrust.unsigned } ?? backup.originName ?? "unknown")
                .exact
        }
        guard !groups.isEmpty else { return nil }
        let rows = groups.sorted { $0.value.count > $1.value.count }.map {
            name,
            backups -> Markup in
            let size = backups.reduce(Int64(0)) { $0.addingSaturated($1.size) }
            let newest = backups.compactMap(\.ownTime).max().map(day) ?? "unknown"
            return """
                <tr><th scope="row">\(name.text)</th><td>\(backups.count)</td>\
                <td>\(byteCount(size))</td><td>\(newest)</td></tr>
                """
        }
        return card(
            "Origins",
            """
            <div class="scroll" tabindex="0" role="region" aria-label="Origins"><table class="rows">\
            <caption>Machines and stores directories in the folder</caption><thead><tr>\
            <th scope="col">Origin</th><th scope="col">Backups</th><th scope="col">Size</th>\
            <th scope="col">Newest</th></tr></thead><tbody>\(rows)</tbody></table></div>
            """
        )
    }

    func devices(_ profile: ReportedProfile) -> Markup? {
        guard !profile.report.synced.isEmpty else { return nil }
        let stores = profile.report.synced.map { store -> Markup in
            let overview = store.overview
            let state = overview.state.rawValue.replacing("_", with: " ")
            let last = overview.lastExchange.map(text) ?? "never"
            let devices = overview.devices.map { device -> Markup in
                let heard = device.heard.map { "heard \(text($0))" } ?? "has sent nothing yet"
                let all = device.hasAll ? ", has everything" : ""
                return
                    "<li>\(device.title): \(heard)\(all)\(device.isForgotten ? ", forgotten" : "")</li>"
            }
            return
                "<h4>\(store.store)</h4><p>\(state), last exchange \(last)</p><ul>\(devices)</ul>"
        }
        return card("Devices in sync", "\(stores)\(run(profile.command("sync status")))")
    }

    // MARK: - One by one

    func backups(_ profile: ReportedProfile) -> Markup? {
        let backups = profile.report.backups
        guard !backups.isEmpty else { return nil }
        let fates = fates(profile)
        let rows = backups.map { row($0, fates[$0.name.exact] ?? "") }
        var content = table(rows.prefix(Self.shownBackups), caption: "Backups, the newest first")
        if rows.count > Self.shownBackups {
            let rest = table(rows.dropFirst(Self.shownBackups), caption: "Older backups")
            content +=
                "<details><summary>\(rows.count - Self.shownBackups) older ones</summary>\(rest)</details>"
        }
        return card("Backups", content)
    }

    private func table(_ rows: ArraySlice<Markup>, caption: String) -> Markup {
        """
        <div class="scroll" tabindex="0" role="region" aria-label="\(caption)"><table class="rows">\
        <caption>\(caption), with the size of its stores</caption><thead><tr>\
        <th scope="col">Backup</th><th scope="col">Size</th><th scope="col">Next prune</th><th scope="col">Check</th>\
        </tr></thead><tbody>\(Array(rows))</tbody></table></div>
        """
    }

    /// Returns the plans of the retention policy for each backup, by name.
    private func fates(_ profile: ReportedProfile) -> [ExactString: String] {
        guard let plan = profile.report.plan else { return [:] }
        func words(_ fate: String, _ items: [PruneBackups.Plan.Item]) -> [(ExactString, String)] {
            items.map { item in
                // A column is too narrow for 'daily snapshot, weekly snapshot'.
                let reasons = item.reasons.map { reason in
                    reason.hasSuffix(" snapshot") ? String(reason.dropLast(9)) : reason
                }
                return (item.backup.name.exact, "\(fate): \(reasons.joined(separator: ", "))")
            }
        }
        let all = words("keep", plan.keep) + words("remove", plan.remove)
        return Dictionary(all) { first, _ in first }
    }

    private func day(_ date: Date) -> String { LocalTime(date, in: timeZone).day }

    private func row(_ backup: Backup, _ fate: String) -> Markup {
        var marks: [String] = []
        if let reason = backup.reason { marks.append(reason) }
        if backup.isWaiting { marks.append("waiting for upload") }
        if backup.isPinned { marks.append("pinned") }
        if backup.isPartial { marks.append("in part") }
        if backup.isAnomalous { marks.append("much less than before") }
        if let damage = backup.damage, let trouble = backup.trouble {
            marks.append("\(trouble.rawValue): \(damage)")
        }
        if let distrust = backup.distrust { marks.append(distrust.mark) }
        marks += backup.tags.map { "[\($0)]" } + [backup.note].compactMap(\.self)
        let marked: Markup? =
            marks.isEmpty
            ? nil : "<br><span class=\"faint\">\(marks.joined(separator: ", "))</span>"
        let stores: Markup? = backup.summary.extent.map {
            "<br><span class=\"faint\">of \(byteCount($0.bytes))</span>"
        }
        let size = "\(backup.isIncrement ? "+" : "")\(byteCount(backup.size))"
        let check = backup.checks.deepest.map {
            "\(day($0.time)), \($0.part?.description ?? $0.depth.word)"
        }
        return """
            <tr><th scope="row">\(backup.displayName)\(marked)</th><td>\(size)\(stores)</td>\
            <td>\(fate)</td><td>\(check ?? "never")</td></tr>

            """
    }
}

extension RunLog.Check.Depth {
    /// The word for people.
    fileprivate var word: String {
        switch self {
        case .part: "a part"
        case .data: "all data"
        case .restore: "restored on trial"
        }
    }
}
