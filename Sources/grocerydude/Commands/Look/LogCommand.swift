internal import ArgumentParser
internal import Files
internal import Foundation
internal import Operations
internal import Stores

struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show what was run, newest first.",
        discussion: """
            Every backup, restore, check and prune is kept in $XDG_STATE_HOME/grocerydude/log.sqlite, \
            the last 1000 of each. Nothing depends on that file.

            EXAMPLE
              grocerydude log --limit 5

            \(ExitStatus.help)
            """
    )

    @Option(help: ArgumentHelp("How many runs to show.", valueName: "number"))
    var limit = 50

    @Option(help: ArgumentHelp("Only runs of one command, such as 'backup'.", valueName: "name"))
    var command: String?

    @OptionGroup var stores: StoresOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("'--limit' has to be 1 or more.") }
    }

    func run() async throws {
        try await Session.run(output, stores, recovers: false) { session in
            var filter = RunLog.Filter()
            // A run with other places than its profile's has none, and is shown where no profile is asked for.
            filter.profile = stores.configuration.chosenProfile
            // Those of all directories, unless one was asked for.
            if stores.path != nil { filter.stores = printable(session.absolute(session.stores)) }
            filter.command = command
            let log = session.log
            let entries = try log.entries(filter, limit: limit)
            if let aside = log.putAside {
                session.context.report(
                    .warning("the log was damaged and begun anew: it is in '\(printable(aside))'")
                )
            }
            if output.json {
                try session.console.answer(json: entries.map { RunSummary($0, session) })
                return .done
            }
            for entry in entries { session.console.answer(line(entry, session)) }
            if entries.isEmpty { session.console.message("nothing was logged yet") }
            return .done
        }
    }

    private func line(_ entry: RunLog.Entry, _ session: Session) -> String {
        let what = entry.command + (entry.profile.map { " \($0)" } ?? "")
        var parts = [
            session.text(entry.began), what.padding(toAtLeast: 8),
            result(entry).padding(toAtLeast: 7),
            shortText(entry.duration).padding(toAtLeast: 7),
        ]
        if let size = entry.size { parts.append(byteCount(size)) }
        if let backup = entry.backup { parts.append(backup) }
        if let message = entry.message { parts.append(message) }
        return parts.joined(separator: "  ")
    }

    private func result(_ entry: RunLog.Entry) -> String {
        switch ExitStatus(rawValue: entry.exitCode) {
        case .done: "done"
        case .partial: "in part"
        case .skipped: "skipped"
        default: "failed \(entry.exitCode)"
        }
    }
}

/// A run in JSON.
struct RunSummary: Encodable {
    var command: String
    var profile: String?
    var stores: String
    var remote: String
    var time: String
    var seconds: Double
    var exitCode: Int32
    var message: String?
    var backup: String?
    var size: Int64?
    var bytes: Int64?

    init(_ entry: RunLog.Entry, _ session: Session) {
        command = entry.command
        profile = entry.profile
        stores = entry.stores
        remote = entry.remote
        time = RFC3339.text(entry.began, in: session.timeZone)
        seconds = entry.duration.inSeconds
        exitCode = entry.exitCode
        message = entry.message
        backup = entry.backup
        size = entry.size
        bytes = entry.bytes
    }
}

/// A length of time as people read it: `1.2 s`, `3 min`, `26 h`, `5 days`.
func shortText(_ duration: Duration) -> String {
    let seconds = duration.inSeconds
    return switch seconds {
    case ..<60: "\((seconds * 10).rounded() / 10) s"
    case ..<3600: "\(Int(seconds / 60)) min"
    case ..<(48 * 3600): "\(Int(seconds / 3600)) h"
    default: "\(Int(seconds / 86_400)) days"
    }
}

extension String {
    /// The text, with spaces after it so that what follows stands in a column.
    func padding(toAtLeast width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}
