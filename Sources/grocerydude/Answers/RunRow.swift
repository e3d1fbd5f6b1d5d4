internal import History
internal import Files
internal import Operations

/// A run in the log.
struct RunRow: AnswerRow {
    var command: String
    var profile: String?
    var stores: String
    var origin: String?
    var remote: String
    var time: LocalTime
    var seconds: Double
    var exitCode: Int32
    var message: String?
    var backup: String?
    var size: Int64?
    var bytes: Int64?

    init(_ entry: RunLog.Entry, _ invocation: Invocation) {
        command = entry.command
        profile = entry.profile
        stores = entry.stores
        origin = entry.origin
        remote = entry.remote
        time = invocation.local(entry.began)
        seconds = entry.duration.inSeconds
        exitCode = entry.exitCode
        message = entry.message
        backup = entry.backup
        size = entry.size
        bytes = entry.bytes
    }

    static func write(_ rows: [RunRow], to console: Console) {
        let cells = rows.map { row in
            [
                row.time.description, row.command + (row.profile.map { " \($0)" } ?? ""),
                row.result, Duration.seconds(row.seconds).shortText,
                [row.size.map(byteCount), row.backup, row.message].compactMap(\.self)
                    .joined(separator: "  "),
            ]
        }
        console.answer(lines: Columns(rows: cells).lines)
        if rows.isEmpty { console.message("nothing was logged yet") }
    }

    private var result: String {
        switch ExitStatus(rawValue: exitCode) {
        case .done: "done"
        case .partial: "in part"
        case .skipped: "skipped"
        default: "failed \(exitCode)"
        }
    }

    /// The time and the result of the run, for `status`.
    var summary: String {
        let result =
            exitCode == 0 ? "done" : "exit code \(exitCode)" + (message.map { ": \($0)" } ?? "")
        return "\(time), \(result)"
    }
}
