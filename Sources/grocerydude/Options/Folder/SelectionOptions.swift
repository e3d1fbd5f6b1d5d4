public import ArgumentParser
public import Backups
public import Operations

extension BackupSelection.Order: ExpressibleByArgument {}

/// The options for the backups to list, and for their order.
struct SelectionOptions: ParsableArguments {
    @Option(help: "The order: time (newest first), name (from A), or size (largest first).")
    var sort = BackupSelection.Order.time

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Only those made since: 7d or 2y5m7d3h ago, yesterday, or a date such as 2026-11-21.",
            valueName: "time"
        ),
        transform: Moment.init
    )
    var since: Moment?

    @Option(
        name: .customLong("tag"),
        help: ArgumentHelp(
            "Only those that have all of these tags, comma between them; may be repeated.",
            valueName: "tags"
        )
    )
    var tags: [String] = []

    /// Whether no option was given.
    var isPlain: Bool { sort == .time && since == nil && tags.isEmpty }

    /// Returns the selection for a run.
    func selection(_ invocation: Invocation) -> BackupSelection {
        var selection = BackupSelection()
        selection.order = sort
        selection.since = since?.date(now: invocation.now, in: invocation.timeZone)
        selection.tags = tags.map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        return selection
    }
}

extension SameName: ExpressibleByArgument {}

/// The option for an archive whose name is taken.
struct SameNameOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "If the name is taken: number adds a number, replace moves the old backup to the trash, fail fails.",
            valueName: "how"
        )
    )
    var sameName = SameName.number
}

/// The option for the time that removed backups stay in the trash.
struct TrashOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long removed backups can come back: 7d, 12h; 0 for not at all.",
            valueName: "time"
        )
    )
    var keepTrash: WaitTime?

    var flags: [FlagValue?] {
        [FlagValue("--keep-trash", "retention.keep_trash", keepTrash?.text)]
    }
}

/// The option for the metrics file.
struct MetricsOptions: ParsableArguments {
    @Option(
        name: .customLong("metrics-file"),
        help: ArgumentHelp(
            "Write metrics of the run to a text file for Prometheus' node exporter.",
            valueName: "file"
        ),
        completion: .file()
    )
    var file: String?

    var flags: [FlagValue?] { [FlagValue("--metrics-file", "metrics_file", file)] }
}

/// The option to treat a remark of a full check as damage.
struct StrictOptions: ParsableArguments {
    @Flag(help: "With a full check: rows that refer to rows that are not there are damage.")
    var strict = false

    /// Throws a `UsageError` if the check is not full, so that the option has no effect.
    func require(_ isFull: Bool, add flag: String) throws {
        guard !strict || isFull else {
            throw UsageError("'--strict' needs a full check: add '\(flag)'", fullMessage: "")
        }
    }
}

/// The options for repeated answers.
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

    /// The interval between looks without known changes.
    var pace: Duration { interval?.duration ?? .seconds(30) }

    func validate() throws {
        guard pace > .zero else {
            throw ValidationError("'--interval' must be 1s or more")
        }
    }
}
