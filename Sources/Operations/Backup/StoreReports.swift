internal import Backups
internal import Files
internal import Stores

/// Looks into the stores of a cut on a thread of its own, while their pages are read: counting rows
/// takes about as long as compressing them.
///
/// That thread alone asks the stores' connections until it has ended. The caller ends with
/// `close()` in any case, before it lets go of the stores: the last reference to them must be its.
struct StoreReports {
    private let work: BackgroundWork<[StoreReport]>

    /// Begins; the reports come in the order of the stores, which are checked besides.
    ///
    /// Stores of which a report is known are not looked into.
    init(
        of members: [StoresCut.Member],
        known: [RelativePath: StoreReport] = [:],
        checking level: CheckLevel,
        isStrict: Bool = false,
        _ context: OperationContext
    ) {
        work = BackgroundWork { checkWanted in
            try members.map { member in
                if let report = known[member.store.path] { return report }
                return try Self.report(member, checking: level, isStrict: isStrict) {
                    try context.checkCancellation()
                    try checkWanted()
                }
            }
        }
    }

    /// Waits for all reports.
    func wait() throws -> [StoreReport] {
        try work.wait()
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
        // Writes to a store at rest may look like damage meanwhile.
        if !report.damage.isEmpty, try !member.snapshot.isStill() {
            throw StoreError.busy(store.path.description)
        }
        return report
    }
}
