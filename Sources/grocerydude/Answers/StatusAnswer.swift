internal import Backups
internal import Files
internal import Operations

/// The state of the backups, the last runs and the schedule.
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

    struct ScheduleState: Encodable {
        var schedule: String
        /// Whether a scheduler runs it.
        var installed: Bool
    }

    var stores: String
    var storesExist: Bool
    var remote: String
    var link: LinkState
    var remoteError: String?
    var backups: Int?
    var size: Int64?
    var newest: Newest?
    var isFresh: Bool?
    var lastBackup: RunRow?
    var lastRun: RunRow?
    var schedule: ScheduleState?
    var nextRun: LocalTime?
    var findings: [Finding]
    var warnings: [String]
    /// Whether the last run was not the last backup.
    private let ranSince: Bool
    private let newestText: String

    private enum CodingKeys: CodingKey {
        case stores, storesExist, remote, link, remoteError, backups, size, newest, isFresh,
            lastBackup
        case lastRun, schedule, nextRun, findings, warnings
    }

    init(
        _ status: Status,
        _ link: LinkState,
        _ schedule: ScheduleState?,
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
        }
        newest = status.newest.map {
            let time = $0.time.map(invocation.local)
            return Newest(
                name: $0.name,
                time: time,
                size: $0.size,
                ageSeconds: status.age?.inSeconds
            )
        }
        let age = status.age.map { ", \($0.shortText) old" } ?? ""
        newestText = status.newest.map { $0.displayName + age } ?? "none that is good"
        isFresh = invocation.profile.maxAge.map { status.isFresh(within: $0) }
        lastBackup = status.lastBackup.map { RunRow($0, invocation) }
        lastRun = status.lastRun.map { RunRow($0, invocation) }
        ranSince = status.lastRun != status.lastBackup
        nextRun = status.nextRun.map(invocation.local)
        findings = status.findings.map {
            Finding(kind: $0.kind.rawValue, what: $0.what, remedy: $0.remedy)
        }
        warnings = status.warnings
    }

    func write(to console: Console) {
        var rows = [["stores", stores + (storesExist ? "" : " (not there)")], ["remote", remote]]
        rows += link.rows
        if let backups, let size {
            rows.append(["backups", "\(backups), \(byteCount(size))"])
            rows.append(["newest", newestText])
        }
        if let lastBackup { rows.append(["last run", lastBackup.summary]) }
        if let lastRun, ranSince {
            rows.append(["since", "\(lastRun.command), \(lastRun.summary)"])
        }
        if let nextRun { rows.append(["next run", nextRun.description]) }
        if let schedule, !schedule.installed {
            rows.append(["next run", "none: '\(schedule.schedule)' is not installed"])
            rows.append(["", "run 'grocerydude schedule install'"])
        }
        for finding in findings {
            rows.append([finding.kind, finding.what])
            if let remedy = finding.remedy { rows.append(["", remedy]) }
        }
        console.answer(lines: Columns(rows: rows).lines)
    }
}
