internal import Backups
internal import Files
internal import Foundation
internal import Operations

/// The state of the backups, the latest runs and the schedule.
struct StatusAnswer: Answer {
    struct Newest: Encodable {
        var name: String
        var time: LocalTime?
        var size: Int64
        var ageSeconds: Double?
    }

    struct Finding: Encodable {
        var kind: String
        var what: String
        var remedy: String?
    }

    /// The backups left in the previous remote folder.
    struct Behind: Encodable {
        var remote: String
        var backups: Int
        var waiting: Int
    }

    /// The last proof that a restore works.
    struct Proof: Encodable {
        var kind: String
        var time: LocalTime
        var backup: String?
    }

    struct ScheduleState: Encodable {
        var schedule: String
        /// Whether a scheduler has it.
        var installed: Bool
        /// Whether that scheduler will begin the next run.
        var enabled: Bool
    }

    var stores: String
    var storesExist: Bool
    var remote: String
    var link: LinkState
    var remoteError: String?
    var backups: Int?
    var size: Int64?
    /// The number of backups that wait on this machine until the remote folder can be reached.
    var waiting: Int
    var behind: Behind?
    /// The number of safety backups.
    var safetyBackups: Int?
    /// The numbers of backups of other origins, and of backups without a trusted signature.
    var others: Int?
    var unknown: Int?
    /// The name of this machine and stores directory.
    var origin: String
    /// The newest complete backup.
    var newest: Newest?
    /// The newest incomplete backup, if it is newer.
    var newestPartial: Newest?
    var isFresh: Bool?
    var lastBackup: RunRow?
    var lastRun: RunRow?
    var proved: Proof?
    /// The last days, and what became of the runs of each.
    var days: DayStrip
    /// The scheduled runs that did not happen.
    var missed: [MissedRow]
    var schedule: ScheduleState?
    var nextRun: LocalTime?
    var findings: [Finding]
    var remarks: [String]
    var warnings: [String]
    /// Whether another command ran after the last backup.
    private let ranSince: Bool
    private let newestText: String
    private let newestPartialText: String?
    private let oldestWaiting: LocalTime?

    private enum CodingKeys: CodingKey {
        case stores, storesExist, remote, link, remoteError, backups, size, safetyBackups, waiting
        case others, unknown, origin, behind, newest, newestPartial, isFresh, lastBackup
        case lastRun, proved, days, missed, schedule, nextRun, findings, remarks, warnings
    }

    init(
        _ status: Status,
        _ link: LinkState,
        _ schedule: ScheduleState?,
        _ missed: [MissedRun],
        _ invocation: Invocation
    ) {
        self.link = link
        self.schedule = schedule
        stores = printable(status.stores)
        storesExist = status.hasStores
        remote = status.remote
        remoteError = status.remoteError.map { explain($0) }
        if status.remoteError == nil {
            backups = status.backups
            size = status.size
            safetyBackups = status.safetyBackups
            (others, unknown) = (status.others, status.unknown)
        }
        origin = invocation.origin.name
        waiting = status.waiting.count
        behind = status.behind.map {
            Behind(remote: $0.remote, backups: $0.backups, waiting: $0.waiting)
        }
        oldestWaiting = status.waiting.last?.time.map(invocation.local)
        newest = status.newest.map { Newest($0, age: status.age, invocation) }
        let partialAge = status.newestPartial?.age(at: invocation.now)
        newestPartial = status.newestPartial.map { Newest($0, age: partialAge, invocation) }
        newestText = status.newest.map { Self.text($0, status.age) } ?? "none that is good"
        newestPartialText = status.newestPartial.map { Self.text($0, partialAge) }
        isFresh = invocation.profile.maxAge.map { status.isFresh(within: $0) }
        lastBackup = status.lastBackup.map { RunRow($0, invocation) }
        lastRun = status.lastRun.map { RunRow($0, invocation) }
        ranSince = status.lastRun != status.lastBackup
        proved = status.proof.map {
            Proof(kind: $0.kind.rawValue, time: invocation.local($0.time), backup: $0.backup)
        }
        days = DayStrip(status.calendar)
        self.missed = missed.map { MissedRow($0, invocation) }
        nextRun = status.nextRun.map(invocation.local)
        findings = status.findings.map {
            Finding(kind: $0.kind.rawValue, what: $0.what, remedy: $0.remedy)
        }
        remarks = status.remarks
        warnings = status.warnings
    }

    private static func text(_ backup: Backup, _ age: Duration?) -> String {
        backup.displayName + (age.map { ", \($0.shortText) old" } ?? "")
    }

    func write(to console: Console) {
        var rows = [["stores", stores + (storesExist ? "" : " (not there)")], ["remote", remote]]
        rows += link.rows
        if let backups, let size {
            let kinds = [(others, "of other machines"), (unknown, Backup.Distrust.unsigned)]
            let rest = kinds.compactMap { count, kind in
                count.flatMap { $0 > 0 ? ", \($0) \(kind)" : nil }
            }
            rows.append(["backups", "\(backups), \(byteCount(size))\(rest.joined())"])
            rows.append([newestPartialText == nil ? "newest" : "newest complete", newestText])
            if let newestPartialText { rows.append(["newest partial", newestPartialText]) }
        }
        if waiting > 0 {
            let since = oldestWaiting.map { ", the first since \($0)" } ?? ""
            rows.append(["waiting", "\(counted(waiting, "backup", "backups")) for upload\(since)"])
            rows.append(["", "run 'grocerydude copy --waiting'"])
        }
        rows += behindRows
        if let lastBackup { rows.append(["last run", lastBackup.summary]) }
        if let lastRun, ranSince {
            rows.append(["since", "\(lastRun.command), \(lastRun.summary)"])
        }
        rows += days.rows
        rows += missed.map { ["missed", $0.summary] }
        if backups ?? 0 > 0 { rows += provedRows }
        if let nextRun { rows.append(["next run", nextRun.description]) }
        if let schedule, !schedule.enabled {
            let lack = schedule.installed ? "enabled" : "installed"
            rows.append(["next run", "none: '\(schedule.schedule)' is not \(lack)"])
            rows.append(["", "run 'grocerydude schedule install'"])
        }
        for finding in findings {
            rows.append([finding.kind, finding.what])
            if let remedy = finding.remedy { rows.append(["", remedy]) }
        }
        rows += remarks.map { ["remark", $0] }
        console.answer(columns: Columns(rows: rows.map { $0.map(console.hinted) }))
    }

    /// The last proof that a restore works.
    private var provedRows: [[String]] {
        guard let proved else {
            return [
                ["restore", "never proved"], ["", "run 'grocerydude check latest --restore'"],
            ]
        }
        let work = proved.kind == RestoreProof.Kind.check.rawValue ? "rehearsed" : "made"
        return [["restore", "\(work) \(proved.time)\(proved.backup.map { " of '\($0)'" } ?? "")"]]
    }

    /// The backups left in the previous folder, and the commands that bring them here.
    private var behindRows: [[String]] {
        guard let behind else { return [] }
        var rows: [[String]] = []
        if behind.backups > 0 {
            let count = counted(behind.backups, "backup", "backups")
            rows.append(["behind", "\(count) stayed behind in '\(behind.remote)'"])
            rows.append([
                "",
                "grocerydude copy --all --remote \(shellWord(behind.remote)) --to \(shellWord(remote))",
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

extension StatusAnswer.Newest {
    fileprivate init(_ backup: Backup, age: Duration?, _ invocation: Invocation) {
        self.init(
            name: backup.name,
            time: backup.time.map(invocation.local),
            size: backup.size,
            ageSeconds: age?.inSeconds
        )
    }
}
