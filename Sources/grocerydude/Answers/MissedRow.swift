internal import Operations

/// A scheduled run that did not happen.
struct MissedRow: AnswerRow, JSONConvertible {
    let run: MissedRun
    let invocation: Invocation

    var json: JSONObject {
        [
            "command": run.command.rawValue, "time": invocation.local(run.due), "count": run.count,
            "reason": run.reason,
        ]
    }

    var summary: String { run.summary(invocation) }

    static func write(_ rows: [MissedRow], to console: Console) {
        for row in rows { console.done(row.summary) }
        if rows.isEmpty { console.message("no scheduled run was missed") }
    }
}
