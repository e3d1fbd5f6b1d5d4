internal import Backups
internal import Files
internal import Stores

/// An examination of the stores of a cut on a separate thread, while their pages are read: counting rows takes about as
/// long as compressing them.
///
/// Only that thread uses the stores' connections until it has ended. The caller must always end it with `close()`,
/// before it releases the stores, because the caller must have the last reference to them.
struct StoreReports {
    private let work: BackgroundWork<[StoreReport]>

    /// Begins the examination; the reports are in the order of the stores.
    ///
    /// It also checks the stores, and searches them for the names of files.
    ///
    /// Stores with a known report are not examined.
    init(
        of members: [StoresCut.Member],
        known: [RelativePath: StoreReport] = [:],
        checking level: CheckLevel,
        isLastTry: Bool = false,
        isStrict: Bool = false,
        naming files: [ExternalFiles] = [],
        _ context: OperationContext
    ) {
        work = BackgroundWork { checkWanted in
            try members.map { member in
                if let report = known[member.store.path] { return report }
                // Two names of one file share a snapshot.
                func named(_ report: StoreReport) -> StoreReport {
                    var report = report
                    report.facts.path = member.store.path.description
                    return report
                }
                func check() throws {
                    try context.checkCancellation()
                    try checkWanted()
                }
                do {
                    var report = try Self.report(member, level, isLastTry, isStrict, check)
                    for files in files where files.store == member.store.path {
                        try Self.add(files, of: member, to: &report, checkCancellation: check)
                    }
                    return named(report)
                } catch let error as StoreError {
                    if case .busy = error { throw error }
                    return named(StoreReport(unreadable: member.snapshot, since: error))
                }
            }
        }
    }

    /// Waits for all reports.
    func wait() throws -> [StoreReport] {
        try work.wait()
    }

    /// Stops at the next row or soon after, and waits until the thread has released the stores.
    func close() {
        work.close()
    }

    /// Adds the files that a column names.
    private static func add(
        _ files: ExternalFiles,
        of member: StoresCut.Member,
        to report: inout StoreReport,
        checkCancellation: @escaping () throws -> Void
    ) throws {
        do {
            let (paths, other) = try member.snapshot.paths(
                of: files,
                checkCancellation: checkCancellation
            )
            report.externalFiles.formUnion(paths)
            guard let other else { return }
            report.otherValues.append("'\(files.text)': '\(other)' is no path of a file there")
        } catch let error as StoreError {
            if case .busy = error { throw error }
            report.unknownFiles.append("'\(files.text)': \(error)")
        }
    }

    private static func report(
        _ member: StoresCut.Member,
        _ level: CheckLevel,
        _ isLastTry: Bool,
        _ isStrict: Bool,
        _ checkCancellation: @escaping () throws -> Void
    ) throws -> StoreReport {
        let store = member.store
        // Thousands of stores may be open, each with its own cache.
        defer { member.snapshot.releaseMemory() }
        let support = store.supportDirectory.below(store.directory)
        var report = try member.snapshot.report(
            hasSupportDirectory: FileInfo.ifPresent(support) != nil,
            checkCancellation: checkCancellation
        )
        let findings = try member.snapshot.findings(level, checkCancellation: checkCancellation)
        report.add(findings, isStrict: isStrict)
        // Concurrent writes to an idle store may look like damage.
        if !report.damage.isEmpty, !isLastTry, try !member.snapshot.isStill() {
            throw StoreError.busy(store.path.description)
        }
        return report
    }
}
