public import Backups
internal import Files
public import Foundation
internal import Remotes
internal import Stores
public import Sync
public import SystemPackage

/// Everything that a report shows about the backups of one profile.
public struct ProfileReport: Sendable {
    /// A store that takes part in sync.
    public struct SyncedStore: Sendable {
        public var store: String
        public var overview: SyncOverview
    }

    public var profile: String?
    public var status: Status
    /// The backups, newest first; those that wait for upload are among them.
    public var backups: [Backup] = []
    /// The backups of the own origin that count, newest first, without safety backups.
    public var own: [Backup] = []
    /// The error if the folder cannot be reached, so that everything is as it was remembered.
    public var unreachable: (any Error)?
    /// The backups that the retention policy keeps and removes; `nil` if there is no policy or if it is not known.
    public var plan: PruneBackups.Plan?
    public var calendar: RunCalendar
    public var trends: [TableTrend] = []
    public var synced: [SyncedStore] = []
    /// The parts that could not be found out, with the reasons.
    public var gaps: [String] = []
}

/// Gathers what a report shows; nothing is changed, and no archive is fetched.
public struct GatherReport: Sendable {
    /// The options of a report.
    public struct Options: Sendable {
        public var profile: String?
        public var retention: PruneBackups.Options
        /// The time of the next scheduled backup; `nil` if it is not known.
        public var nextRun: Date?
        /// The times at which a scheduler begins backups; `nil` if none does.
        public var due: DueTimes?
        /// The directory with the sidecars of synced stores.
        public var sidecars: FilePath
        /// Whether the settings switch sync off.
        public var isSyncOff = false

        public init(retention: PruneBackups.Options, sidecars: FilePath) {
            self.retention = retention
            self.sidecars = sidecars
        }
    }

    /// The number of weeks in a report's calendar.
    public static let weeks = 13

    private let stores: FilePath
    private let folder: BackupFolder
    private let options: Options
    private let context: OperationContext

    public init(
        of stores: FilePath,
        in folder: BackupFolder,
        options: Options,
        context: OperationContext
    ) {
        self.stores = stores
        self.folder = folder
        self.options = options
        self.context = context
    }

    private var now: Date { options.retention.now }

    /// Gathers a report; a part that cannot be found out is a gap of it.
    ///
    /// - Throws: `CancellationError`.
    public func run() async throws -> ProfileReport {
        let show = ShowStatus(of: stores, in: folder, nextRun: options.nextRun, now: now)
        let status = await show.run()
        // An unreadable log is among the status' warnings.
        let runs = status.runs
        let start = RunCalendar.start(weeks: Self.weeks, before: now, in: folder.timeZone)
        let due = options.due.map {
            DueRuns($0, in: runs, from: start, until: now, isRunning: DueRuns.isBusy(stores))
        }
        var report = ProfileReport(
            profile: options.profile,
            status: status,
            calendar: RunCalendar(of: runs, due: due, from: start, now: now, in: folder.timeZone)
        )
        report.unreachable = status.remoteError
        let known = status.remoteError == nil ? folder : RememberedFolder.folder(for: folder)
        try await add(backupsOf: known, to: &report)
        try add(syncTo: &report)
        return report
    }

    private func add(backupsOf known: BackupFolder, to report: inout ProfileReport) async throws {
        do {
            let listing = try await known.list()
            // A backup is in both places if the run that uploaded it was killed.
            let there = Set(listing.backups.compactMap(\.id))
            let waiting = report.status.waiting.filter { $0.id.map { !there.contains($0) } ?? true }
            report.backups = listing.backups + waiting
            report.backups.sortNewestFirst()
            report.own = known.own(listing.backups).ordinary
            report.trends = TableTrend.trends(of: report.own)
            let errors = [listing.annotationsError, listing.logError].compactMap(\.self)
            report.gaps += errors.map { explain($0) }
        } catch  where !(error is CancellationError) {
            report.gaps.append("the backups are not known: \(explain(error))")
            return
        }
        guard !options.retention.policy.isEmpty, !report.backups.isEmpty else { return }
        do {
            let prune = PruneBackups(in: known, options: options.retention, context: quiet)
            report.plan = try await prune.plan()
        } catch  where !(error is CancellationError) {
            report.gaps.append("what the retention policy removes is not known: \(explain(error))")
        }
    }

    /// The context without its reports: the status has the same warnings.
    private var quiet: OperationContext {
        var context = context
        context.report = { _ in }
        return context
    }

    private func add(syncTo report: inout ProfileReport) throws {
        do {
            let places = try SyncPlaces(stores, sidecars: options.sidecars, context: context)
            report.synced = try places.enabled().map { store in
                var overview = try places.overview(of: store)
                overview.isOff = options.isSyncOff
                return ProfileReport.SyncedStore(
                    store: store.path.description,
                    overview: overview
                )
            }
        } catch OperationError.noStores {
            // The status says that they are missing.
        } catch  where !(error is CancellationError) {
            report.gaps.append("the state of sync is not known: \(explain(error))")
        }
    }
}
