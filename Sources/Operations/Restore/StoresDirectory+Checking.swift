internal import Files
internal import Stores
internal import SystemPackage

extension StoresDirectory {
    /// Checks every store in a directory that nobody uses, or in a part of it, except the stores in some paths.
    ///
    /// Returns the number of stores.
    ///
    /// `remark` receives findings that are no damage; `tolerating` throws to end the check at a damaged store.
    @discardableResult
    func checkStores(
        _ level: CheckLevel,
        isStrict: Bool = false,
        of part: RestoredPart? = nil,
        passingOver kept: [RelativePath] = [],
        _ context: OperationContext,
        remark: (String) -> Void = { _ in },
        tolerating: (StoreError) throws -> Void = { throw $0 }
    ) throws -> Int {
        var survey = try survey(leavingOut: .paths(Set(kept)))
        survey.limit(to: part)
        // A store that cannot be opened looks like no store at all. But a file that its owner may not read was saved
        // with those permissions, and keeps them.
        if let failure = survey.failures.first(where: { !$0.error.isPermissionDenied }) {
            throw failure.error
        }
        for store in survey.stores {
            try context.checkCancellation()
            do {
                let remarks = try store.check(
                    level,
                    isStrict: isStrict,
                    scratchParent: context.scratch,
                    checkCancellation: context.checkCancellation
                )
                for finding in remarks { remark("'\(store.path)': \(finding)") }
            } catch let error as StoreError {
                try tolerating(error)
            }
        }
        return survey.stores.count
    }

    /// Opens every store at the place where a restore put it, and throws `RestoreError.storesLost` if there are fewer
    /// stores than were staged.
    ///
    /// Some file systems lose written data when its directory is renamed. An empty file is no store that could fail, so
    /// the stores are counted. From the exchange on, cancellation is ignored: half a restore is worthless.
    func checkInPlace(
        expecting expected: Int,
        of part: RestoredPart? = nil,
        passingOver kept: [RelativePath] = [],
        _ context: OperationContext,
        tolerating: (StoreError) throws -> Void = { throw $0 }
    ) throws {
        var context = context
        context.checkCancellation = {}
        let found = try checkStores(
            .none,
            of: part,
            passingOver: kept,
            context,
            tolerating: tolerating
        )
        guard found >= expected else {
            throw RestoreError.storesLost(path, found: found, expected: expected)
        }
    }

    /// The time to wait for a writer that blocks readers.
    private static let busyTimeout = Duration.seconds(5)

    /// Examines the stores that a restore has put in place, while others may be using them.
    ///
    /// - Returns: the reason why they must be removed: one is damaged and damage was not allowed, or some are lost;
    ///   `nil` if they are good.
    /// - Throws: `StoreError`, `FileError` if a store cannot be read.
    func refusalUnderUse(
        _ journal: RestoreJournal,
        _ context: OperationContext
    ) throws -> (any Error)? {
        // Kept data is not from the backup, and is no reason to undo the restore.
        var survey = try survey(leavingOut: .paths(Set(journal.keptPaths)))
        // Data outside the restored part shows nothing about the restored data.
        survey.limit(to: journal.part)
        // A store without read permission, which was saved so, was not counted at staging, unless another user staged
        // it.
        var failure = survey.failures.first { !$0.error.isPermissionDenied }?.error
        for store in survey.stores {
            do {
                try store.open(scratchParent: context.scratch, busyTimeout: Self.busyTimeout)
            } catch StoreError.damaged(let name, let reason) {
                let error = StoreError.damaged(name, reason: reason)
                guard journal.allowsDamage else { return error }
                context.note("\(error), and restored anyway")
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        let (found, expected) = (survey.stores.count, journal.stores)
        guard found < expected else { return nil }
        if let denied = survey.failures.first { throw denied.error }
        return RestoreError.storesLost(path, found: found, expected: expected)
    }
}

extension Error {
    var isPermissionDenied: Bool {
        if case .failed(_, _, .permissionDenied)? = self as? FileError { true } else { false }
    }
}
