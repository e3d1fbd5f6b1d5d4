public import Files
public import SystemPackage

/// Finishes or undoes a restore that a crash interrupted.
///
/// Every command does this first.
public struct RecoverRestore: Sendable {
    private let stores: FilePath
    private let fileSystem: any FileSystem
    private let context: OperationContext

    public init(
        of stores: FilePath,
        context: OperationContext,
        fileSystem: any FileSystem = LocalFileSystem()
    ) {
        self.stores = stores
        self.context = context
        self.fileSystem = fileSystem
    }

    /// Does it, if there is anything to do and no other run is at it.
    ///
    /// - Throws: `RestoreError.cannotRecover`; `.unsettled` and `.refusedInUse`, after which all is as
    ///   it was found; `FileError`.
    public func run() async throws {
        var context = context
        context.lockWait = .zero
        for layout in RestorePaths.Layout.allCases {
            guard let paths = try RestorePaths(resolving: stores, layout), try paths.hasTraces()
            else { continue }
            do {
                try await RestoreLocks.withLocks(on: paths, context) { _ in
                    _ = try settle(paths)
                }
            } catch FileError.locked {
                // It is no wreck, it is running.
            }
        }
    }

    /// Does it for a caller that has the locks of these paths.
    ///
    /// - Returns: whether there was anything to do. Another directory may then be in place than the one
    ///   that is locked, and another layout may be the right one.
    func runLocked(_ paths: RestorePaths) throws -> Bool {
        // The locks for an exchange are all that there are.
        let layouts: [RestorePaths.Layout] =
            paths.layout == .beside ? [.beside, .inside] : [.inside]
        for layout in layouts where try settle(RestorePaths(live: paths.live, layout)) {
            return true
        }
        return false
    }

    /// Does it in one layout.
    private func settle(_ paths: RestorePaths) throws -> Bool {
        // A link could lead it to somebody else's files.
        guard try paths.hasTraces(), try FileInfo.ifPresent(paths.area)?.kind == .directory else {
            return false
        }
        var context = context
        // To stop in the middle of it would only leave it to the next run again.
        context.checkCancellation = {}
        let journal = try RestoreJournal.read(paths.journal)
        var swap = paths.layout.swap.init(
            paths: paths,
            fileSystem: fileSystem,
            // Without one there is at most a draft of it, and the directory that it was to be in.
            journal: journal ?? RestoreJournal(phase: .settled, backup: "")
        )
        if journal != nil {
            let recovery = try swap.recover {
                Verdict.afterCrash($1, $0, in: paths.live, context)
            }
            tell(recovery, swap.journal)
        }
        try swap.removeJournal()
        return true
    }

    private func tell(_ recovery: RestoreRecovery, _ journal: RestoreJournal) {
        let backup = journal.backup
        switch recovery {
        case .finished(let leftover):
            context.report(.note("finished the restore of '\(backup)', which was interrupted"))
            if let leftover { context.report(.leftover(leftover)) }
        case .undone(let refused, let error):
            let reason = error.map { ", since \(explain($0))" } ?? ""
            let state =
                refused.map { "what was refused is in '\(printable($0))'" }
                ?? "your data is as it was before it"
            context.report(
                .note("undid the restore of '\(backup)', which was interrupted\(reason); \(state)")
            )
        case .settled: break
        }
        if journal.isApplicationStopped ?? false {
            context.report(
                .warning(
                    "the application was stopped for the restore of '\(backup)', which was interrupted: start it"
                )
            )
        }
    }
}
