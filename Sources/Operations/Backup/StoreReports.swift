internal import Files
internal import Stores

/// Looks into the stores of a cut on a thread of its own, while their pages are read: counting rows
/// takes about as long as compressing them.
///
/// That thread alone asks the stores' connections until it has ended. The caller ends with
/// `close()` in any case, before it lets go of the stores: the last reference to them must be its.
struct StoreReports {
    private let context: OperationContext
    private let work: BackgroundWork<(reports: [StoreReport], duration: Duration)>

    /// Begins.
    ///
    /// - Parameters:
    ///   - members: the stores; the reports come in their order.
    ///   - level: how thoroughly each store is checked besides.
    ///   - isStrict: whether a remark of that check is damage.
    ///   - context: asked whether to stop.
    init(
        of members: [StoresCut.Member],
        checking level: CheckLevel,
        isStrict: Bool = false,
        _ context: OperationContext
    ) {
        self.context = context
        work = BackgroundWork { checkWanted in
            let start = ContinuousClock.now
            let reports = try members.map { member in
                try Self.report(member, checking: level, isStrict: isStrict) {
                    try context.checkCancellation()
                    try checkWanted()
                }
            }
            return (reports, ContinuousClock.now - start)
        }
    }

    /// Waits for all reports.
    ///
    /// - Throws: `StoreError`, `FileError`, `CancellationError`.
    func wait() throws -> [StoreReport] {
        let start = ContinuousClock.now
        let (reports, duration) = try work.wait()
        context.report(.timed("count rows, beside", duration))
        context.report(.timed("wait for counts", ContinuousClock.now - start))
        return reports
    }

    /// Stops at the next row or so, and waits for the thread to let go of the stores.
    func close() {
        work.close()
    }

    private static func report(
        _ member: StoresCut.Member,
        checking level: CheckLevel,
        isStrict: Bool,
        checkCancellation: @escaping () throws -> Void
    ) throws -> StoreReport {
        let store = member.store
        let support = store.supportDirectory.below(store.directory)
        var report = try member.snapshot.report(
            hasSupportDirectory: FileInfo.ifPresent(support) != nil,
            checkCancellation: checkCancellation
        )
        let findings = try member.snapshot.findings(level, checkCancellation: checkCancellation)
        report.add(findings, isStrict: isStrict)
        // Of a store at rest, what an application writes meanwhile may look like damage.
        if !report.damage.isEmpty, try !member.snapshot.isStill() {
            throw StoreError.busy(store.path.description)
        }
        return report
    }
}
