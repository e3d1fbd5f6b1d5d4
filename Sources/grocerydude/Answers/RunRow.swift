internal import History
internal import Files
internal import Operations

/// A run in the log.
struct RunRow: AnswerRow, JSONConvertible {
    let entry: RunLog.Entry
    let invocation: Invocation

    var json: JSONObject {
        [
            "command": entry.command, "profile": entry.profile, "stores": entry.stores,
            "origin": entry.origin, "remote": entry.remote, "time": time,
            "seconds": entry.duration.inSeconds, "exitCode": entry.exitCode,
            "message": entry.message, "backup": entry.backup, "size": entry.size,
            "bytes": entry.bytes,
        ]
    }

    private var time: LocalTime { invocation.local(entry.began) }

    static func write(_ rows: [RunRow], to console: Console) {
        let cells = rows.map { row in
            let entry = row.entry
            return [
                row.time.description, entry.command + (entry.profile.map { " \($0)" } ?? ""),
                row.result, entry.duration.shortText,
                [entry.size.map(byteCount), entry.backup, entry.message].compactMap(\.self)
                    .joined(separator: "  "),
            ]
        }
        console.answer(lines: Columns(rows: cells).lines)
        if rows.isEmpty { console.message("nothing was logged yet") }
    }

    private var result: String {
        switch ExitStatus(rawValue: entry.exitCode) {
        case .done: "done"
        case .partial: "in part"
        case .skipped: "skipped"
        default: "failed \(entry.exitCode)"
        }
    }

    /// The time and the result of the run, for `status`.
    var summary: String {
        let reason = entry.message.map { ": \($0)" } ?? ""
        return "\(time), \(entry.exitCode == 0 ? "done" : "exit code \(entry.exitCode)\(reason)")"
    }
}
