internal import Operations

/// A scheduled run that did not happen.
struct MissedRow: AnswerRow {
    var command: String
    /// The time at which the first one should have been.
    var time: LocalTime
    /// The number of those that did not happen.
    var count: Int
    /// The probable reason.
    var reason: String?
    let summary: String

    private enum CodingKeys: CodingKey { case command, time, count, reason }

    init(_ run: MissedRun, _ invocation: Invocation) {
        command = run.command.rawValue
        time = invocation.local(run.due)
        count = run.count
        reason = run.reason
        summary = run.summary(invocation)
    }

    static func write(_ rows: [MissedRow], to console: Console) {
        for row in rows { console.done(row.summary) }
        if rows.isEmpty { console.message("no scheduled run was missed") }
    }
}
