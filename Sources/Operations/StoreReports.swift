internal import Files
internal import Foundation
internal import Stores

/// Looks into the stores of a cut on a thread of its own, while their pages are read: counting rows
/// takes about as long as compressing them.
///
/// That thread alone asks the stores' connections until it has ended. The caller ends with
/// `close()` in any case, before it lets go of the stores: the last reference to them must be its.
///
/// Order of locks: there is one, `condition`; it is never held while a store is asked.
final class StoreReports: @unchecked Sendable {
    private let level: CheckLevel
    private let context: OperationContext
    private let condition = NSCondition()
    // Guarded by `condition`.
    private var members: [StoresCut.Member]
    private var isCancelled = false
    private var result: Result<[StoreReport], any Error>?
    private var duration = Duration.zero

    /// Begins.
    ///
    /// - Parameters:
    ///   - members: the stores; the reports come in their order.
    ///   - level: how thoroughly each store is checked besides.
    ///   - context: asked whether to stop.
    init(
        of members: [StoresCut.Member],
        checking level: CheckLevel,
        _ context: OperationContext
    ) {
        self.members = members
        self.level = level
        self.context = context
        let thread = Thread { [self] in
            let start = ContinuousClock.now
            let result = Result { try makeReports() }
            condition.withLock {
                self.members = []
                self.result = result
                duration = ContinuousClock.now - start
                condition.broadcast()
            }
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Waits for all reports.
    ///
    /// - Throws: `StoreError`, `FileError`, `CancellationError`.
    func wait() throws -> [StoreReport] {
        let start = ContinuousClock.now
        let (result, duration) = condition.withLock {
            while self.result == nil { condition.wait() }
            return (self.result, self.duration)
        }
        context.report(.timed("count rows, beside", duration))
        context.report(.timed("wait for counts", ContinuousClock.now - start))
        return try result?.get() ?? []
    }

    /// Stops at the next row or so, and waits for the thread to let go of the stores.
    func close() {
        condition.withLock {
            isCancelled = true
            while result == nil { condition.wait() }
        }
    }

    private func makeReports() throws -> [StoreReport] {
        try condition.withLock { members }.map(report)
    }

    private func report(_ member: StoresCut.Member) throws -> StoreReport {
        let store = member.store
        let support = store.supportDirectory.below(store.directory)
        let check = { [self] in
            try context.checkCancellation()
            if condition.withLock({ isCancelled }) { throw CancellationError() }
        }
        var report = try member.snapshot.report(
            hasSupportDirectory: FileInfo.ifPresent(support) != nil,
            checkCancellation: check
        )
        let findings = try member.snapshot.findings(level, checkCancellation: check)
        report.damage += findings.filter { !report.damage.contains($0) }
        // Of a store at rest, what an application writes meanwhile may look like damage.
        if !report.damage.isEmpty, try !member.snapshot.isStill() {
            throw StoreError.busy(store.path.description)
        }
        return report
    }
}
