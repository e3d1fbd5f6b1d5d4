public import Backups
internal import Remotes
public import Files
public import Foundation
public import History
internal import Stores
public import SystemPackage

/// The status of stores and backups, for an operator who wants to notice trouble early.
public struct Status: Sendable {
    /// An operation that is in progress, or was interrupted.
    public struct Finding: Sendable, Equatable {
        /// The kinds of finding.
        public enum Kind: String, Sendable {
            /// Another run is in progress.
            case running
            /// A run was interrupted.
            case interrupted
            /// Data that is no longer needed was left behind.
            case leftover
        }

        public var kind: Kind
        public var what: String
        /// The way to finish or remove it.
        public var remedy: String?
    }

    public var stores: FilePath
    public var hasStores: Bool
    /// The remote folder's address.
    public var remote: String
    /// The error if the remote folder cannot be listed; nothing is then known of its backups.
    public var remoteError: (any Error)?
    public var backups = 0
    /// The total size of all backups in bytes.
    public var size: Int64 = 0
    /// The backups that wait on this machine until the folder is reachable, the newest first.
    public var waiting: [Backup] = []
    /// The backups that remain in the previously used folder.
    public var behind: Behind?
    /// The number of safety backups, which restores made of the data that they replaced.
    public var safetyBackups = 0
    /// The number of backups without a known machine's signature; they do not count here.
    public var unknown = 0
    /// The number of backups of other machines or stores directories.
    public var others = 0
    /// The newest complete backup that is not known to be damaged, and is not dated in the future.
    public var newest: Backup?
    /// The newest partial backup under the same conditions, if it is newer than `newest`.
    public var newestPartial: Backup?
    /// Whether a newer backup than `newest` is damaged, made in part only, or from the future.
    public var isNewestDoubtful = false
    /// The age of `newest`.
    public var age: Duration?
    /// The last run that backed up these stores to this folder.
    public var lastBackup: RunLog.Entry?
    /// The last run of any kind with these stores and this folder.
    public var lastRun: RunLog.Entry?
    /// The logged runs with these stores and this folder, newest first; none if the log cannot be read.
    public var runs: [RunLog.Entry] = []
    /// The last days, and what became of the runs of each; `nil` if the log cannot be read.
    public var calendar: RunCalendar?
    /// The last proof that a restore from this folder works.
    public var proof: RestoreProof?
    /// The time of the next backup, if a schedule is known.
    public var nextRun: Date?
    public var findings: [Finding] = []
    /// Remarks that a person should read once, and that a monitor may ignore.
    public var remarks: [String] = []
    public var warnings: [String] = []

    /// The stores directory as the log records it.
    var logged: String { printable(stores) }

    /// Whether there is a good backup that is not older than a limit.
    public func isFresh(within limit: Duration) -> Bool {
        age.map { $0 <= limit } ?? false
    }
}

/// Collects the status, and changes nothing, not even the remains of an interrupted run.
public struct ShowStatus: Sendable {
    private let stores: FilePath
    let folder: BackupFolder
    private let nextRun: Date?
    private let due: DueTimes?
    private let now: Date
    /// A closure that names another run, perhaps with its progress.
    public var naming: @Sendable (LockHolder) -> String = { $0.description }

    /// The number of days in the calendar of a status.
    private static let days = 30

    /// The maximum number of archives elsewhere that a machine without any known key inspects.
    private static let mostLooks = 5

    /// - Parameters:
    ///   - stores: the stores directory.
    ///   - folder: the backup folder.
    ///   - nextRun: the time of the next backup; `nil` if it is not known.
    ///   - due: the times at which a scheduler begins backups; `nil` if none does.
    ///   - now: the present time.
    public init(
        of stores: FilePath,
        in folder: BackupFolder,
        nextRun: Date? = nil,
        due: DueTimes? = nil,
        now: Date
    ) {
        self.stores = stores
        self.folder = folder
        self.nextRun = nextRun
        self.due = due
        self.now = now
    }

    /// Collects the status; failures become findings and warnings.
    public func run() async -> Status {
        var status = Status(
            stores: stores,
            hasStores: isThere(stores),
            remote: folder.address,
            nextRun: nextRun
        )
        readLog(&status)
        await lookAtBackups(&status)
        await lookIntoOutbox(&status)
        do {
            try lookAtStores(&status)
        } catch {
            status.warnings.append(explain(error))
        }
        lookForPartialFiles(&status)
        let places = Places(stores: stores, folder: folder)
        status.warnings += [places.warning].compactMap(\.self)
        status.remarks += [places.remark].compactMap(\.self)
        return status
    }

    /// Returns whether a directory exists, even if it may not be read.
    private func isThere(_ directory: FilePath) -> Bool {
        do {
            _ = try Directory.open(directory)
            return true
        } catch {
            if case .failed(_, _, .permissionDenied) = error as? FileError { return true }
            return false
        }
    }

    private func readLog(_ status: inout Status) {
        guard let log = folder.memory.log else { return }
        var filter = RunLog.Filter()
        filter.stores = printable(stores)
        filter.remote = folder.address
        do {
            status.runs = try log.entries(filter, limit: RunCalendar.mostRuns)
            status.lastRun = status.runs.first
            status.calendar = calendar(of: status.runs)
            // Many runs of other commands may have been since.
            filter.command = Run.Command.backup.rawValue
            status.lastBackup = try log.entries(filter, limit: 1).first
            status.proof = try RestoreProof(in: log, stores: printable(stores), folder.address)
            if let warning = log.warning { status.warnings.append(warning) }
        } catch {
            status.warnings.append("the log cannot be read: \(explain(error))")
        }
    }

    private func calendar(of runs: [RunLog.Entry]) -> RunCalendar {
        let start = RunCalendar.start(days: Self.days, before: now, in: folder.timeZone)
        let isRunning = DueRuns.isBusy(stores)
        let due = due.map {
            DueRuns($0, in: runs, from: start, until: now, isRunning: isRunning)
        }
        return RunCalendar(of: runs, due: due, from: start, now: now, in: folder.timeZone)
    }

    // MARK: - Backups

    private func lookAtBackups(_ status: inout Status) async {
        let backups: [Backup]
        do {
            // An unreadable log was already reported above.
            let listing = try await folder.list()
            backups = listing.backups
            status.warnings += [listing.signersWarning].compactMap(\.self) + listing.warnings
        } catch {
            status.remoteError = error
            return
        }
        status.backups = backups.count
        status.size = backups.reduce(0) { $0.addingSaturated($1.size) }
        status.safetyBackups = backups.count(where: \.isSafety)
        // A machine that has no key and trusts no other's counts its own backups all the same.
        let knowsNobody = (try? folder.memory.catalog.knowsNobody) ?? false
        func isOwn(_ backup: Backup) -> Bool {
            knowsNobody ? folder.origin?.has(backup) ?? true : folder.owns(backup)
        }
        status.unknown = backups.count { $0.distrust != nil && !isOwn($0) }
        status.others = backups.count - status.unknown - backups.count(where: isOwn)
        status.warnings += [await folder.losses.lagWarning(beside: backups)].compactMap(\.self)
        if let vanished = await folder.losses.vanished() {
            status.warnings.append(vanished.warning(in: folder.timeZone))
        }
        // A damaged file does not show which machine made it, nor does one elsewhere.
        let counted = backups.filter {
            isOwn($0) || $0.isAnonymous && (knowsNobody || $0.damage != nil)
        }
        await findNewest(among: counted.ordinary, isOwn, &status)
    }

    /// Finds the newest own backup; an anonymous one is looked at, or is damaged.
    private func findNewest(
        among backups: [Backup],
        _ isOwn: (Backup) -> Bool,
        _ status: inout Status
    ) async {
        var looks = Self.mostLooks
        for listed in backups where listed.ownTime != nil {
            var backup = listed
            if !isOwn(listed), listed.damage == nil {
                looks -= 1
                guard looks >= 0, let known = await look(at: listed), isOwn(known) else { continue }
                backup = known
            }
            guard let warning = backup.warning(at: now) else {
                if backup.isPartial {
                    status.isNewestDoubtful = true
                    status.newestPartial = status.newestPartial ?? backup
                    continue
                }
                status.newest = backup
                status.age = backup.age(at: now)
                if backup.distrust != nil {
                    status.warnings.append(
                        "'\(backup.displayName)' is \(Backup.Distrust.unsigned): this machine has no key, and trusts no other"
                    )
                }
                return
            }
            status.isNewestDoubtful = true
            status.warnings.append(warning)
        }
    }

    /// Returns a backup elsewhere with the facts from its archive, if a little of that says whose it is.
    private func look(at backup: Backup) async -> Backup? {
        try? await folder.lookAlone(at: backup, .partsOnly) { _ in }
    }

    private func lookIntoOutbox(_ status: inout Status) async {
        do {
            status.waiting = try await folder.outbox?.waiting() ?? []
        } catch {
            status.warnings.append("what waits for upload is not known: \(explain(error))")
        }
    }

    // MARK: - Operations in progress

    private func lookAtStores(_ status: inout Status) throws {
        var isRestoring = false
        for layout in RestorePaths.Layout.allCases {
            guard let paths = try RestorePaths(resolving: stores, layout) else { continue }
            if try paths.hasTraces() {
                isRestoring = true
                status.findings.append(try restore(in: paths))
            }
            for (suffix, verb) in [("FailedRestore", "refused"), ("Old", "replaced")] {
                for kept in try paths.allKept(suffix) where kept != paths.old {
                    let what = "'\(printable(kept))' has the data that a restore \(verb)"
                    let remedy = "look at it, and delete it only if you need nothing in it"
                    status.findings.append(.init(kind: .leftover, what: what, remedy: remedy))
                }
            }
        }
        if status.hasStores, !isRestoring, let holder = try LockHolder.of(stores) {
            status.findings.append(
                .init(kind: .running, what: "the stores are locked by \(naming(holder))")
            )
        }
    }

    /// Describes a restore that is in progress or was interrupted.
    private func restore(in paths: RestorePaths) throws -> Status.Finding {
        let backup = try? RestoreJournal.read(paths.journal)?.backup
        let what = "a restore" + (backup.map { " of '\($0)'" } ?? "")
        let lock = paths.layout == .beside ? paths.area : paths.live
        if let holder = try LockHolder.of(lock) {
            return .init(kind: .running, what: "\(what) is being made by \(naming(holder))")
        }
        return .init(
            kind: .interrupted,
            what: "\(what) was interrupted",
            remedy: "any command but this one finishes or undoes it"
        )
    }

    private func lookForPartialFiles(_ status: inout Status) {
        let holder = try? LockHolder.of(folder.staging)
        if let holder {
            let what = "the remote folder is locked by \(naming(holder))"
            status.findings.append(.init(kind: .running, what: what))
            return
        }
        for path in Set([folder.staging, folder.workplace]) {
            // A missing folder was already reported above.
            guard let directory = try? Directory.open(path), let names = try? directory.names()
            else { continue }
            for name in names where PartialName.matches(name.description) {
                guard (try? directory.info(name))?.kind == .file else { continue }
                let what = "a backup was interrupted, and left '\(name)'"
                let remedy = "the next backup removes it"
                status.findings.append(.init(kind: .interrupted, what: what, remedy: remedy))
            }
        }
    }
}
