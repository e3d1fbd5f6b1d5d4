internal import Files
internal import Stores
internal import SystemPackage

/// All stores of a stores directory as of one moment: a read transaction is open on each of them,
/// or a lock held, until the cut is dropped.
struct BackupCut {
    /// A store that can be read, and what a look at it brought up.
    struct Member {
        var store: Store
        var snapshot: StoreSnapshot
        var report: StoreReport

        /// The files of external data that its rows refer to.
        var externalFiles: Set<RelativePath> {
            let names = report.externalReferences.compactMap { try? RelativePath($0).name }
            return Set(names.map(store.externalDataDirectory.appending))
        }
    }

    /// What was found in the directory before the cut.
    let survey: StoresDirectory.Survey
    private(set) var members: [Member] = []
    /// Stores that SQLite cannot make sense of; their files are saved as they are.
    private(set) var damaged: [Store] = []
    private(set) var problems: [Problem] = []
    /// Files of external data that are not there, also in a cut that was made again.
    private(set) var missingExternalFiles: Set<RelativePath> = []

    /// Makes a cut, again and again while a writer holds a store or external data is on its way.
    ///
    /// - Parameters:
    ///   - directory: the stores directory.
    ///   - busyTimeout: for how long to try while a store is locked by a writer.
    ///   - context: asked whether to stop; where scratch copies go.
    /// - Returns: the cut, in which each store stands as of one moment until it is dropped.
    /// - Throws: `StoreError.busy` where a store was locked all the time; other `StoreError`s,
    ///   `FileError`, `CancellationError`.
    static func make(
        of directory: StoresDirectory,
        busyTimeout: Duration,
        _ context: OperationContext
    ) async throws -> BackupCut {
        let deadline = ContinuousClock.now + busyTimeout
        var missing: Set<RelativePath>?
        while true {
            try context.checkCancellation()
            do {
                var cut = try BackupCut(of: directory, context)
                let missingNow = cut.findMissingExternalFiles()
                if missingNow.isEmpty || missingNow == missing {
                    cut.report(missing: missingNow)
                    return cut
                }
                missing = missingNow
            } catch let error as StoreError {
                guard case .busy = error, ContinuousClock.now < deadline else { throw error }
                // Everything is released meanwhile, so that two of us cannot wait for each other.
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private init(of directory: StoresDirectory, _ context: OperationContext) throws {
        let survey = try context.timing("survey") {
            try directory.survey(isCancelled: context.checkCancellation)
        }
        self.survey = survey
        let cut = try context.timing("cut") {
            try StoresCut(
                of: survey.stores,
                scratchParent: context.scratch,
                busyTimeout: .seconds(1)
            )
        }
        for failure in cut.failures { try note(failure) }
        if !cut.isOneMoment {
            context.report(.note("writers did not pause: the stores are cut a moment apart"))
        }
        // Only once all transactions have begun: counting takes time, and would pull the cut apart.
        for member in cut.members {
            try context.checkCancellation()
            let store = member.store
            let support = store.supportDirectory.below(store.directory)
            let report = try context.timing("count rows") {
                try member.snapshot.report(
                    hasSupportDirectory: FileInfo.ifPresent(support) != nil,
                    checkCancellation: context.checkCancellation
                )
            }
            problems += report.damage.map {
                Problem(
                    kind: .damagedStore,
                    path: store.path.description,
                    reason: "SQLite finds it damaged: \($0)"
                )
            }
            members.append(Member(store: store, snapshot: member.snapshot, report: report))
        }
    }

    private mutating func note(_ failure: StoresCut.Failure) throws {
        let path = failure.store.path.description
        switch failure.error {
        case StoreError.damaged(_, let reason):
            damaged.append(failure.store)
            problems.append(
                Problem(
                    kind: .damagedStore,
                    path: path,
                    reason: "SQLite finds it damaged: \(reason); its files are saved as they are"
                )
            )
        case let error as StoreError:
            damaged.append(failure.store)
            problems.append(
                Problem(
                    kind: .unreadable,
                    path: path,
                    reason: "\(error); its files are saved as they are, at no single moment"
                )
            )
        case let error as FileError where error.isMissing:
            // It went since the survey, and is not in the directory any more.
            return
        case let error as FileError where error.isNoSpace:
            throw error
        case let error:
            problems.append(Problem(kind: .unreadable, path: path, reason: explain(error)))
        }
    }

    private func findMissingExternalFiles() -> Set<RelativePath> {
        var missing: Set<RelativePath> = []
        for member in members {
            for path in member.externalFiles
            where (try? FileInfo.ifPresent(path.below(member.store.directory))) as FileInfo??
                == .some(nil)
            {
                missing.insert(path)
            }
        }
        return missing
    }

    /// Adds something that was found by comparing the cut with what was there before.
    mutating func note(_ problem: Problem) {
        problems.append(problem)
    }

    /// The paths of stores that are there and could not be read.
    var unreadableStores: Set<String> {
        Set(survey.stores.map(\.path.description)).subtracting(
            members.map(\.store.path.description)
        )
    }

    private mutating func report(missing: Set<RelativePath>) {
        missingExternalFiles = missing
        problems += missing.sorted().map {
            Problem(
                kind: .missingExternalData,
                path: $0.description,
                reason: "a store refers to this file, and it is not there"
            )
        }
    }
}
