internal import Backups
internal import Files
internal import Foundation
internal import Stores
internal import SystemPackage

/// All stores of a stores directory as of one moment: a read transaction is open on each of them,
/// or a lock held, until the cut is dropped.
struct BackupCut {
    /// The directory as it was before the cut.
    let survey: StoresDirectory.Survey
    /// The stores that can be read.
    let members: [StoresCut.Member]
    /// Stores that SQLite cannot make sense of; their files are saved as they are.
    private(set) var damaged: [Store] = []
    /// Stores that were gone once they were to be cut; one that comes back is in no cut.
    private var gone: [Store] = []
    private(set) var problems: [Problem] = []
    /// How the files of each store stood before the cut; `nil` for one that was just written.
    let standing: [RelativePath: String]

    /// Makes a cut, again and again while a writer holds a store.
    ///
    /// - Parameters:
    ///   - directory: the stores directory.
    ///   - options: those of the backup.
    ///   - passesOver: whether the search for stores need not look into a file.
    ///   - context: the world around it.
    /// - Returns: the cut, in which each store stands as of one moment until it is dropped.
    /// - Throws: `StoreError.busy` if a store was locked all the time.
    static func make(
        of directory: StoresDirectory,
        for options: BackupOptions,
        passingOver passesOver: (WalkedFile) throws -> Bool,
        _ context: OperationContext
    ) async throws -> BackupCut {
        let deadline = ContinuousClock.now + options.busyTimeout
        while true {
            try context.checkCancellation()
            do {
                return try BackupCut(of: directory, for: options, passesOver, context)
            } catch let error as StoreError {
                guard case .busy = error, ContinuousClock.now < deadline else { throw error }
                // Everything is released meanwhile, so that two of us cannot wait for each other.
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private init(
        of directory: StoresDirectory,
        for options: BackupOptions,
        _ passesOver: (WalkedFile) throws -> Bool,
        _ context: OperationContext
    ) throws {
        let survey = try directory.survey(
            leavingOut: options.leavingOut,
            threads: context.threads,
            passesOver: passesOver,
            isCancelled: context.checkCancellation
        )
        self.survey = survey
        standing = survey.stores.reduce(into: [:]) { standing, store in
            standing[store.path] = store.standing(at: options.date)
        }
        let cut = try StoresCut(
            of: survey.stores,
            scratchParent: context.scratch,
            busyTimeout: .seconds(1)
        )
        members = cut.members
        for failure in cut.failures { try note(failure) }
        if !cut.isOneMoment {
            context.note("writers did not pause: the stores are cut a moment apart")
        }
    }

    /// The paths of stores that are there and could not be read.
    var unreadableStores: Set<String> {
        Set(survey.stores.map(\.path.description)).subtracting(
            members.map(\.store.path.description)
        )
    }

    /// The paths of the stores in this cut, and of SQLite's files beside them.
    var storeFiles: Set<RelativePath> {
        gone.reduce(into: survey.storeFiles) { $0.subtract($1.files) }
    }

    private mutating func note(_ failure: StoresCut.Failure) throws {
        func note(_ kind: Problem.Kind, _ reason: String) {
            let path = failure.store.path.description
            problems.append(Problem(kind: kind, path: path, reason: reason))
        }
        switch failure.error {
        case StoreError.damaged(_, let reason):
            damaged.append(failure.store)
            note(
                .damagedStore,
                "SQLite finds it damaged: \(reason); its files are saved as they are"
            )
        case let error as StoreError:
            damaged.append(failure.store)
            note(.neverStill, "\(error); its files are saved as they are, at no single moment")
        case let error as FileError
        where try error.isMissing && FileInfo.ifPresent(failure.store.location) == nil:
            gone.append(failure.store)
        case let error as FileError where error.isNoSpace:
            throw error
        case let error:
            note(.unreadable, explain(error))
        }
    }
}

extension StoresCut.Member {
    /// Returns the files of external data that a store's rows refer to.
    func externalFiles(_ report: StoreReport) -> Set<RelativePath> {
        let names = report.externalReferences.compactMap { try? RelativePath($0).name }
        return Set(names.map(store.externalDataDirectory.appending))
    }
}

/// Something changed while an archive was written that only a new cut can mend.
struct CutAgain: ExplainedError {
    var reason: String
    /// Files of external data that were not there; files that are missing again are not on their way.
    var missing: Set<RelativePath>?

    var description: String { "\(reason) while it was backed up, every time that was tried" }
    var hint: String? { "try again when fewer applications come and go" }
}
