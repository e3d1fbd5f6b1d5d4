internal import Backups
internal import Files
internal import Foundation
internal import History
internal import Operations

/// The state of the backups, the latest runs and the schedule.
struct StatusAnswer: Answer, JSONConvertible {
    struct ScheduleState: Encodable {
        var schedule: String
        /// Whether a scheduler has it.
        var installed: Bool
        /// Whether that scheduler will begin the next run.
        var enabled: Bool
    }

    let status: Status
    let link: LinkState
    let schedule: ScheduleState?
    /// The scheduled runs that did not happen.
    let missed: [MissedRun]
    let invocation: Invocation

    /// Whether the folder was listed, so that the numbers of backups are known.
    private var isListed: Bool { status.remoteError == nil }
    private var stores: String { printable(status.stores) }
    private var days: DayStrip { DayStrip(status.calendar) }
    private var partialAge: Duration? { status.newestPartial?.age(at: invocation.now) }
    private var lastBackup: RunRow? { status.lastBackup.map(row) }
    private var lastRun: RunRow? { status.lastRun.map(row) }

    private func row(_ entry: RunLog.Entry) -> RunRow {
        RunRow(entry: entry, invocation: invocation)
    }

    var json: JSONObject {
        let missed = missed.map { MissedRow(run: $0, invocation: invocation) }
        return [
            "stores": stores, "storesExist": status.hasStores, "remote": status.remote,
            "link": link, "remoteError": status.remoteError.map { explain($0) },
            "backups": isListed ? status.backups : nil, "size": isListed ? status.size : nil,
            "waiting": status.waiting.count, "behind": behind,
            "safetyBackups": isListed ? status.safetyBackups : nil,
            "others": isListed ? status.others : nil, "unknown": isListed ? status.unknown : nil,
            "origin": invocation.origin.name, "newest": newest(status.newest, status.age),
            "newestPartial": newest(status.newestPartial, partialAge),
            "isFresh": invocation.profile.maxAge.map { status.isFresh(within: $0) },
            "lastBackup": lastBackup, "lastRun": lastRun, "proved": proved, "days": days,
            "missed": missed, "schedule": schedule,
            "nextRun": status.nextRun.map(invocation.local), "findings": findings,
            "remarks": status.remarks, "warnings": status.warnings,
        ]
    }

    private func newest(_ backup: Backup?, _ age: Duration?) -> JSONObject? {
        backup.map {
            [
                "name": $0.name, "time": $0.time.map(invocation.local), "size": $0.size,
                "ageSeconds": age?.inSeconds,
            ]
        }
    }

    private var behind: JSONObject? {
        status.behind.map {
            ["remote": $0.remote, "backups": $0.backups, "waiting": $0.waiting]
        }
    }

    private var proved: JSONObject? {
        status.proof.map {
            [
                "kind": $0.kind.rawValue, "time": invocation.local($0.time), "backup": $0.backup,
            ]
        }
    }

    private var findings: [JSONObject] {
        status.findings.map { ["kind": $0.kind.rawValue, "what": $0.what, "remedy": $0.remedy] }
    }

    private static func text(_ backup: Backup, _ age: Duration?) -> String {
        backup.displayName + (age.map { ", \($0.shortText) old" } ?? "")
    }

    func write(to console: Console) {
        var rows = [
            ["stores", stores + (status.hasStores ? "" : " (not there)")],
            ["remote", status.remote],
        ]
        rows += link.rows
        if isListed { rows += backupRows }
        if let oldest = status.waiting.last {
            let since = oldest.time.map { ", the first since \(invocation.local($0))" } ?? ""
            let count = counted(status.waiting.count, "backup", "backups")
            rows.append(["waiting", "\(count) for upload\(since)"])
            rows.append(["", "run 'grocerydude copy --waiting'"])
        }
        rows += behindRows
        if let lastBackup { rows.append(["last run", lastBackup.summary]) }
        if let lastRun, status.lastRun != status.lastBackup {
            rows.append(["since", "\(lastRun.entry.command), \(lastRun.summary)"])
        }
        rows += days.rows
        rows += missed.map { ["missed", $0.summary(invocation)] }
        if isListed, status.backups > 0 { rows += provedRows }
        if let next = status.nextRun {
            rows.append(["next run", invocation.local(next).description])
        }
        if let schedule, !schedule.enabled {
            let lack = schedule.installed ? "enabled" : "installed"
            rows.append(["next run", "none: '\(schedule.schedule)' is not \(lack)"])
            rows.append(["", "run 'grocerydude schedule install'"])
        }
        for finding in status.findings {
            rows.append([finding.kind.rawValue, finding.what])
            if let remedy = finding.remedy { rows.append(["", remedy]) }
        }
        rows += status.remarks.map { ["remark", $0] }
        console.answer(columns: Columns(rows: rows.map { $0.map(console.hinted) }))
    }

    /// The number and size of the backups, and the newest ones.
    private var backupRows: [[String]] {
        let kinds = [
            (status.others, "of other machines"), (status.unknown, Backup.Distrust.unsigned),
        ]
        let rest = kinds.map { count, kind in count > 0 ? ", \(count) \(kind)" : "" }.joined()
        let newest = status.newest.map { Self.text($0, status.age) } ?? "none that is good"
        let partial = status.newestPartial.map { Self.text($0, partialAge) }
        return [
            ["backups", "\(status.backups), \(byteCount(status.size))\(rest)"],
            [partial == nil ? "newest" : "newest complete", newest],
        ] + (partial.map { [["newest partial", $0]] } ?? [])
    }

    /// The last proof that a restore works.
    private var provedRows: [[String]] {
        guard let proof = status.proof else {
            return [
                ["restore", "never proved"], ["", "run 'grocerydude check latest --restore'"],
            ]
        }
        let work = proof.kind == .check ? "rehearsed" : "made"
        let backup = proof.backup.map { " of '\($0)'" } ?? ""
        return [["restore", "\(work) \(invocation.local(proof.time))\(backup)"]]
    }

    /// The backups left in the previous folder, and the commands that bring them here.
    private var behindRows: [[String]] {
        guard let behind = status.behind else { return [] }
        var rows: [[String]] = []
        if behind.backups > 0 {
            let count = counted(behind.backups, "backup", "backups")
            rows.append(["behind", "\(count) stayed behind in '\(behind.remote)'"])
            rows.append([
                "",
                "grocerydude copy --all --remote \(shellWord(behind.remote)) --to \(shellWord(status.remote))",
            ])
        }
        if behind.waiting > 0 {
            let count = counted(behind.waiting, "backup waits", "backups wait")
            rows.append(["behind", "\(count) for upload to '\(behind.remote)'"])
            rows.append(["", "grocerydude copy --waiting --remote \(shellWord(behind.remote))"])
        }
        return rows
    }
}
