public import Backups
internal import Remotes
internal import Files
public import Foundation
public import History
internal import Stores
public import SystemPackage

/// The state of things, as an operator wants to know it before anything is wrong.
public struct Status: Sendable {
    /// Something that is going on, or was left half done.
    public struct Finding: Sendable, Equatable {
        /// The kinds of finding.
        public enum Kind: String, Sendable {
            /// Another run is at it.
            case running
            /// A run was interrupted.
            case interrupted
            /// Something was kept that nobody needs any more.
            case leftover
        }

        public var kind: Kind
        public var what: String
        /// A way to finish it.
        public var remedy: String?
    }

    public var stores: FilePath
    public var hasStores: Bool
    /// The remote folder's address.
    public var remote: String
    /// The reason that the remote folder cannot be listed; nothing is then known of its backups.
    public var remoteError: (any Error)?
    public var backups = 0
    /// Bytes in all backups.
    public var size: Int64 = 0
    /// The backups that wait on this machine until the folder can be reached, newest first.
    public var waiting: [Backup] = []
    /// What stayed in the folder that was used before this one.
    public var behind: Behind?
    /// How many of these restores made of the data before them.
    public var safetyBackups = 0
    /// The newest complete backup that is not known to be damaged, nor from the future.
    public var newest: Backup?
    /// The newest such that was made in part only, if it is newer.
    public var newestPartial: Backup?
    /// The age of the complete one.
    public var age: Duration?
    /// The last run that backed up these stores to this folder.
    public var lastBackup: RunLog.Entry?
    /// The last run of any kind with these stores and this folder.
    public var lastRun: RunLog.Entry?
    /// When the next backup is due, if a schedule is known.
    public var nextRun: Date?
    public var findings: [Finding] = []
    /// Things that a person should know once, and a monitor need not.
    public var remarks: [String] = []
    public var warnings: [String] = []

    /// The stores directory as the log has it.
    var logged: String { printable(stores) }

    /// Whether there is a good backup that is no older than a limit.
    public func isFresh(within limit: Duration) -> Bool {
        age.map { $0 <= limit } ?? false
    }
}

/// Looks at the state of things, and changes nothing: not even the remains of an interrupted run.
public struct ShowStatus: Sendable {
    private let stores: FilePath
    let folder: BackupFolder
    private let nextRun: Date?
    private let now: Date

    public init(of stores: FilePath, in folder: BackupFolder, nextRun: Date? = nil, now: Date) {
        self.stores = stores
        self.folder = folder
        self.nextRun = nextRun
        self.now = now
    }

    /// Looks; failures are among the findings and warnings.
    public func run() async -> Status {
        var status = Status(
            stores: stores,
            hasStores: (try? Directory.open(stores)) != nil,
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

    private func readLog(_ status: inout Status) {
        guard let log = folder.memory.log else { return }
        var filter = RunLog.Filter()
        filter.stores = printable(stores)
        filter.remote = folder.address
        do {
            status.lastRun = try log.entries(filter, limit: 1).first
            filter.command = Run.Command.backup.rawValue
            status.lastBackup = try log.entries(filter, limit: 1).first
            if let warning = log.warning { status.warnings.append(warning) }
        } catch {
            status.warnings.append("the log cannot be read: \(explain(error))")
        }
    }

    // MARK: - Backups

    private func lookAtBackups(_ status: inout Status) async {
        let backups: [Backup]
        do {
            // A log that cannot be read was told above.
            backups = try await folder.list().backups
        } catch {
            status.remoteError = error
            return
        }
        status.backups = backups.count
        status.size = backups.reduce(0) { $0.addingSaturated($1.size) }
        status.safetyBackups = backups.count(where: \.isSafety)
        if let vanished = await folder.vanished() {
            status.warnings.append(vanished.warning(in: folder.timeZone))
        }
        for backup in backups.ordinary where backup.ownTime != nil {
            guard let warning = backup.warning(at: now) else {
                if backup.isPartial {
                    status.newestPartial = status.newestPartial ?? backup
                    continue
                }
                status.newest = backup
                status.age = backup.age(at: now)
                return
            }
            status.warnings.append(warning)
        }
    }

    private func lookIntoOutbox(_ status: inout Status) async {
        do {
            status.waiting = try await folder.outbox?.waiting() ?? []
        } catch {
            status.warnings.append("what waits for upload is not known: \(explain(error))")
        }
    }

    // MARK: - What is going on

    private func lookAtStores(_ status: inout Status) throws {
        var isRestoring = false
        for layout in RestorePaths.Layout.allCases {
            guard let paths = try RestorePaths(resolving: stores, layout) else { continue }
            if try paths.hasTraces() {
                isRestoring = true
                status.findings.append(try restore(in: paths))
            }
            let refused = paths.kept("FailedRestore")
            if try FileInfo.ifPresent(refused) != nil {
                let what = "'\(printable(refused))' is what a restore refused"
                let remedy = "look at it, then: rm -r '\(printable(refused))'"
                status.findings.append(.init(kind: .leftover, what: what, remedy: remedy))
            }
        }
        if status.hasStores, !isRestoring, let holder = try LockHolder.of(stores) {
            status.findings.append(
                .init(kind: .running, what: "the stores are locked by \(holder)")
            )
        }
    }

    /// Describes a restore that is going on, or was interrupted.
    private func restore(in paths: RestorePaths) throws -> Status.Finding {
        let backup = try? RestoreJournal.read(paths.journal)?.backup
        let what = "a restore" + (backup.map { " of '\($0)'" } ?? "")
        let lock = paths.layout == .beside ? paths.area : paths.live
        if let holder = try LockHolder.of(lock) {
            return .init(kind: .running, what: "\(what) is being made by \(holder)")
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
            let what = "the remote folder is locked by \(holder)"
            status.findings.append(.init(kind: .running, what: what))
            return
        }
        for path in Set([folder.staging, folder.workplace]) {
            // A folder that is not there was told above.
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
