internal import Backups
internal import Files
internal import Foundation
internal import History
internal import SystemPackage

/// The metrics of runs in the format of Prometheus
/// (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
///
/// Times are absolute: an age grows between two runs, and the reader's
/// `time() - grocerydude_newest_backup_timestamp_seconds` grows with it. The file also contains
/// the age of the newest backup, as of the end of the run.
struct Metrics {
    private let run: Run
    /// The last run of each command.
    private var lastRuns: [Run.Command: RunLog.Entry] = [:]
    /// The end of the last successful run of each command.
    private var lastSuccesses: [Run.Command: Date] = [:]
    /// The backups in the remote folder; `nil` if it could not be listed.
    var backups: [Backup]?

    /// Describes a run that has just ended.
    init(_ run: Run, _ entry: RunLog.Entry) {
        self.run = run
        lastRuns[run.command] = entry
        if entry.exitCode == 0 { lastSuccesses[run.command] = entry.ended }
    }

    /// Adds the logged runs: other commands and earlier runs.
    mutating func addLogged(_ log: RunLog?) {
        guard let log else { return }
        for command in Run.Command.allCases {
            var filter = RunLog.Filter()
            filter.command = command.rawValue
            filter.profile = run.profile
            filter.stores = printable(run.stores)
            filter.remote = run.address
            // A log that cannot be read is reported when it is written.
            lazy var quiet =
                (try? log.uneventful(command.rawValue, printable(run.stores), run.address))?
                .filter { $0.profile == run.profile } ?? []
            func last() -> RunLog.Entry? {
                let logged = (try? log.entries(filter, limit: 1)) ?? []
                return (logged + quiet).max { $0.began < $1.began }
            }
            if lastRuns[command] == nil { lastRuns[command] = last() }
            filter.isSuccess = true
            if lastSuccesses[command] == nil { lastSuccesses[command] = last()?.ended }
        }
    }

    /// Writes the complete file, readable for everybody, because the exporter runs as another user.
    func write(to path: FilePath) throws {
        let start = "# HELP grocerydude_"
        try LocalFileSystem().write(
            Array(text.utf8),
            over: path,
            beginning: start,
            outside: run.stores.resolvedIfPresent
        )
    }

    /// The complete content of the file.
    var text: String {
        var text = ""
        func add(_ name: String, _ help: String, _ samples: [(Run.Command?, Double)]) {
            guard !samples.isEmpty else { return }
            text += "# HELP grocerydude_\(name) \(help)\n# TYPE grocerydude_\(name) gauge\n"
            for (command, value) in samples {
                text += "grocerydude_\(name){\(labels(command))} \(Self.number(value))\n"
            }
        }
        func runs(_ value: (RunLog.Entry) -> Double?) -> [(Run.Command?, Double)] {
            Run.Command.allCases.compactMap { command in
                lastRuns[command].flatMap(value).map { (command, $0) }
            }
        }
        add("last_run_timestamp_seconds", "When the last run ended.", runs { $0.ended.seconds })
        let durations = runs { $0.duration.inSeconds }
        add("last_run_duration_seconds", "How long the last run took.", durations)
        add("last_run_exit_code", "What the last run exited with.", runs { Double($0.exitCode) })
        let successes = runs { $0.exitCode == 0 ? 1 : 0 }
        add("last_run_success", "Whether the last run did all that it should.", successes)
        add(
            "last_success_timestamp_seconds",
            "When the last run ended that did all that it should.",
            Run.Command.allCases.compactMap { command in
                lastSuccesses[command].map { (command, $0.seconds) }
            }
        )
        let sizes = runs { $0.size.map(Double.init) }
        add("last_run_archive_bytes", "The size of the last run's archive.", sizes)
        add("last_run_data_bytes", "The size of what is in it.", runs { $0.bytes.map(Double.init) })
        if let backups {
            add("backups", "How many backups there are.", [(nil, Double(backups.count))])
            let size = backups.reduce(0.0) { $0 + Double($1.size) }
            add("backups_bytes", "How much the backups take.", [(nil, size)])
            let ended = lastRuns[run.command]?.ended ?? run.began
            if let newest = backups.newestGood(at: ended)?.time {
                let time = "When the newest good backup was made."
                add("newest_backup_timestamp_seconds", time, [(nil, newest.seconds)])
                let age = ((ended.seconds - newest.seconds) * 1000).rounded() / 1000
                let help = "How old the newest good backup was when this was written."
                add("newest_backup_age_seconds", help, [(nil, age)])
            }
        }
        return text
    }

    private func labels(_ command: Run.Command?) -> String {
        let labels: [(String, String?)] = [
            ("command", command?.rawValue), ("profile", run.profile),
            ("stores", printable(run.stores)), ("origin", run.origin), ("remote", run.address),
        ]
        return labels.compactMap { name, value in value.map { "\(name)=\"\(Self.escaped($0))\"" } }
            .joined(separator: ",")
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n")
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}

extension RunLog.Entry {
    /// The end of the run.
    var ended: Date { began + duration.inSeconds }
}

extension Date {
    /// The seconds since 1970-01-01 UTC, to the millisecond.
    fileprivate var seconds: Double { (timeIntervalSince1970 * 1000).rounded() / 1000 }
}
