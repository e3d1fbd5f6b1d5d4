internal import ArgumentParser

/// The form and the amount of output.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Answer in JSON.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only answers that were asked for; errors in one line.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Say more.")
    var verbose = false

    @Flag(help: "Show no progress bar.")
    var noProgress = false

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
