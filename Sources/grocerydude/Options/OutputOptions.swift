internal import ArgumentParser

/// The form and the amount of output.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Answer in JSON.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only answers that were asked for; errors in one line.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Tell each step.")
    var verbose = false

    @Option(
        help:
            "How much to tell: \(LogLevel.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var logLevel: LogLevel?

    @Flag(help: "Show no progress bar.")
    var noProgress = false

    /// How much to tell.
    var level: LogLevel { logLevel ?? (quiet ? .warning : verbose ? .verbose : .info) }

    /// Returns the options for an error about a command line that could not be parsed.
    static func said(in arguments: [String]) -> OutputOptions {
        let words = arguments.dropFirst().prefix { $0 != "--" }
        let isQuiet = words.contains {
            $0 == "--quiet" || !$0.hasPrefix("--") && $0.hasPrefix("-") && $0.contains("q")
        }
        return OutputOptions.parseOrExit(
            (words.contains("--json") ? ["--json"] : []) + (isQuiet ? ["--quiet"] : [])
        )
    }
}

/// How much a command tells on standard error.
enum LogLevel: String, CaseIterable, Comparable, ExpressibleByArgument {
    /// Warnings and errors.
    case warning
    /// Everything that is worth knowing.
    case info
    /// Each step: directories that are made, renamed and removed.
    case verbose
    /// Files that are written and flushed, too.
    case debug

    static func < (left: LogLevel, right: LogLevel) -> Bool {
        let ranks = [left, right].map { allCases.firstIndex(of: $0) ?? 0 }
        return ranks[0] < ranks[1]
    }
}
