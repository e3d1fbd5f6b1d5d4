public import Backups
internal import Files
public import History

/// The notifications of a profile: one for each change of a job's condition, and not one for each run.
///
/// The log keeps for each target the condition that it was last notified of. A target that could not be reached gets
/// its message after the next run.
public struct Notifications: Sendable {
    public var targets: [NotificationTarget]
    public var events: Set<JobCondition.Event>
    /// The time limit for one message.
    public var timeout: Duration
    public var timeZone: LocalZone
    private let log: RunLog

    public init(
        _ targets: [NotificationTarget],
        events: Set<JobCondition.Event>,
        timeout: Duration,
        timeZone: LocalZone,
        log: RunLog
    ) {
        (self.targets, self.events, self.timeout) = (targets, events, timeout)
        (self.timeZone, self.log) = (timeZone, log)
    }

    /// A target, and the reason why a message did not arrive there.
    public struct Delivery: Sendable {
        /// The target without its secrets.
        public var target: String
        public var failure: String?
    }

    /// Sends a message to all targets.
    public func test(_ context: OperationContext) async -> [Delivery] {
        let text = ["This is a test: notifications of this program arrive here."]
        let notice = Notice(title: "grocerydude: test", lines: text, isBad: false)
        return await send(targets.map { ($0, notice) }, context)
    }

    /// Sends a message to each target that was last notified of another condition.
    ///
    /// A failure is a warning: it never changes the result of a run.
    ///
    /// - Returns: the number of messages that arrived.
    @discardableResult
    public func report(_ report: JobReport, _ context: OperationContext) async -> Int {
        var pending: [(NotificationTarget, Notice)] = []
        for target in targets {
            // If the log cannot be read, two messages are better than none.
            let last = try? log.condition(of: report.job, for: target.digest)
            let previous = last.flatMap(JobCondition.init)
            let change = report.condition.events(after: previous)
            if change.isDisjoint(with: events) {
                if !change.isEmpty { keep(report, for: target, context) }
            } else {
                let notice = report.notice(after: previous, in: timeZone, mask: mask)
                pending.append((target, notice))
            }
        }
        let deliveries = await send(pending, context)
        for (target, delivery) in zip(pending.map(\.0), deliveries) {
            if let failure = delivery.failure {
                context.warn("no notification by '\(delivery.target)': \(failure)")
            } else {
                keep(report, for: target, context)
            }
        }
        return deliveries.count { $0.failure == nil }
    }

    private var mask: SecretMask { NotificationTarget.mask(of: targets) }

    private func keep(
        _ report: JobReport,
        for target: NotificationTarget,
        _ context: OperationContext
    ) {
        do {
            try log.setCondition(
                report.condition.rawValue,
                of: report.job,
                for: target.digest,
                at: report.time
            )
        } catch {
            context.warn("the notification may be repeated: \(explain(error))")
        }
    }

    /// Sends all messages at the same time, so that one that hangs delays no other.
    private func send(
        _ notices: [(NotificationTarget, Notice)],
        _ context: OperationContext
    ) async -> [Delivery] {
        var context = context
        // A person who interrupted the run is notified of that, too.
        if (try? context.checkCancellation()) == nil { context.checkCancellation = {} }
        let (mask, check) = (mask, context.checkCancellation)
        return await withTaskGroup(of: (Int, Delivery).self) { group in
            for (index, (target, notice)) in notices.enumerated() {
                group.addTask {
                    let failure = await target.send(
                        notice,
                        timeout: timeout,
                        mask: mask,
                        checkCancellation: check
                    )
                    return (index, Delivery(target: target.shown, failure: failure))
                }
            }
            let deliveries = await group.reduce(into: []) { $0.append($1) }
            return deliveries.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
