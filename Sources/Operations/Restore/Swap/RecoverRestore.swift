public import Files
public import History
public import SystemPackage

/// Finishes or undoes a restore that a crash interrupted.
///
/// Every command runs this first.
public struct RecoverRestore: Sendable {
    private let stores: FilePath
    private let fileSystem: any FileSystem
    private let context: OperationContext
    private let announcement: RestoreAnnouncement
    private let log: RunLog?

    public init(
        of stores: FilePath,
        announcing announcement: RestoreAnnouncement = RestoreAnnouncement(),
        log: RunLog? = nil,
        context: OperationContext,
        fileSystem: any FileSystem = LocalFileSystem()
    ) {
        self.stores = stores
        self.log = log
        self.context = context
        self.announcement = announcement
        self.fileSystem = fileSystem
    }

    /// Recovers if there is something to recover, and no other run is doing it.
    ///
    /// - Throws: `RestoreError.cannotRecover`; `.unsettled` and `.refusedInUse`, after which everything is as before;
    ///   `FileError`.
    public func run() async throws {
        var context = context
        context.lockWait = .zero
        for layout in RestorePaths.Layout.allCases {
            guard let paths = try RestorePaths(resolving: stores, layout), try paths.hasTraces()
            else { continue }
            do {
                _ = try await RestoreLocks.withLocks(on: paths, context) { _ in try settle(paths) }
            } catch FileError.locked {
                // The restore is still running.
            }
        }
    }

    /// Recovers for a caller that holds the locks of these paths, and returns whether there was something to recover.
    ///
    /// Afterwards, another directory than the locked one may be in place, and another layout may be right.
    func runLocked(_ paths: RestorePaths) throws -> Bool {
        // The locks for an exchange cover both layouts.
        let layouts = RestorePaths.Layout.allCases.filter { $0 == .inside || $0 == paths.layout }
        for layout in layouts where try settle(RestorePaths(live: paths.live, layout)) {
            return true
        }
        return false
    }

    /// Recovers in one layout.
    private func settle(_ paths: RestorePaths) throws -> Bool {
        // A symbolic link could lead to other users' files.
        guard try paths.hasTraces(), try FileInfo.ifPresent(paths.area)?.kind == .directory else {
            return false
        }
        var context = context
        // Cancelling half-way would only leave the rest to the next run.
        context.checkCancellation = {}
        let journal = try RestoreJournal.read(paths.journal)
        var swap = NameSwap(
            paths: paths,
            fileSystem: fileSystem,
            // Without a journal, there are at most a draft of it, and its directory.
            journal: journal ?? RestoreJournal(phase: .settled, backup: "")
        )
        if journal != nil {
            let recovery = try swap.recover { Verdict.afterCrash($1, $0, in: paths.live, context) }
            report(recovery, swap.journal)
            if case .finished = recovery {
                announcement.make(of: swap.journal.backup, in: paths.live, context)
            } else {
                // A journal is only settled if the restore was rolled back.
                context.noteFutile(swap.journal.safety, in: log)
            }
        }
        try swap.removeJournal()
        return true
    }

    private func report(_ recovery: NameSwap.Recovery, _ journal: RestoreJournal) {
        let backup = journal.backup
        switch recovery {
        case .finished(let leftover):
            context.note("finished the restore of '\(backup)', which was interrupted")
            context.noteLeftover(leftover)
        case .undone(let refused, let error):
            let reason = error.map { ", since \(explain($0))" } ?? ""
            let state =
                refused.map { "the refused data is in '\(printable($0))'" }
                ?? "your data is as it was before it"
            context.note(
                "undid the restore of '\(backup)', which was interrupted\(reason); \(state)"
            )
        case .settled: break
        }
        if journal.isApplicationStopped {
            context.warn(
                "the application was stopped for the restore of '\(backup)', which was interrupted: start it"
            )
        }
    }
}
