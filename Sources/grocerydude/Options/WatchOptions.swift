internal import ArgumentParser

/// Whether to answer again and again.
struct WatchOptions: ParsableArguments {
    @Flag(
        name: .customLong("watch"),
        help:
            "Answer again whenever the folder changes, until Ctrl-C; with '--json', a line each time."
    )
    var isOn = false

    @Option(
        help: ArgumentHelp(
            "With '--watch', look again this often in any case: 30s; changes of a cloud are seen only so.",
            valueName: "time"
        )
    )
    private var interval: WaitTime?

    /// How often to look if nothing is known to have changed.
    var pace: Duration { interval?.duration ?? .seconds(30) }

    func validate() throws {
        guard pace > .zero else {
            throw ValidationError("'--interval' must be 1s or more")
        }
    }
}
