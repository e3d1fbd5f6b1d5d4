internal import ArgumentParser

/// The options for the format and the amount of output.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Answer in JSON.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only answers that were asked for; errors in one line.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Report each step; twice, each file that is written too.")
    var verbose: Int

    @Flag(help: "Show no progress bar.")
    var noProgress = false

    /// The format and the amount of output that they ask for.
    var style: OutputStyle {
        OutputStyle(json: json, quiet: quiet, verbose: verbose, noProgress: noProgress)
    }

    /// The detail of the reports.
    var level: LogLevel { style.level }
}

/// The format and the amount of output.
struct OutputStyle {
    /// Whether the output is JSON.
    let json: Bool
    /// Whether only answers that were asked for are written, and errors in one line.
    let quiet: Bool
    /// The number of times that more detail is asked for.
    var verbose = 0
    /// Whether no progress is shown.
    var noProgress = false

    /// The detail of the reports.
    var level: LogLevel {
        quiet ? .warning : verbose > 1 ? .debug : verbose > 0 ? .verbose : .info
    }

    /// Returns the style for an error about a command line that could not be parsed.
    static func said(in arguments: [String]) -> OutputStyle {
        let words = arguments.dropFirst().prefix { $0 != "--" }
        let isQuiet = words.contains {
            $0 == "--quiet" || !$0.hasPrefix("--") && $0.hasPrefix("-") && $0.contains("q")
        }
        return OutputStyle(json: words.contains("--json"), quiet: isQuiet)
    }
}

/// The detail of a command's reports on standard error.
enum LogLevel: Int, Comparable {
    /// Warnings and errors.
    case warning
    /// All important events.
    case info
    /// Each step too: directories that are created, renamed and removed.
    case verbose
    /// Written and synced files too.
    case debug

    static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}
