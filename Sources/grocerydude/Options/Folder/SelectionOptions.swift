public import ArgumentParser
public import Backups
internal import Operations

/// The options for the backups to list.
struct SelectionOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help:
            "Only backups made since: 7d or 2y5m7d3h ago, yesterday, or a date such as 2026-11-21."
            .value("time"),
        transform: Moment.init
    )
    var since: Moment?

    @Option(
        name: .customLong("tag"),
        help:
            "Only backups with all of these tags, separated by commas; may be repeated."
            .value("tags")
    )
    var tags: [String] = []

    /// Whether no option was given.
    var isPlain: Bool { since == nil && tags.isEmpty }

    /// Returns the selection for a run.
    func selection(_ invocation: Invocation) -> BackupSelection {
        var selection = BackupSelection()
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
        help:
            "If the name is taken: number adds a number, replace moves the old backup to the trash, fail fails."
            .value("how")
    )
    var sameName = SameName.number
}

/// The option for repeated answers.
struct WatchOptions: ParsableArguments {
    @Flag(
        name: .customLong("watch"),
        help:
            "Answer again whenever the folder changes, until Ctrl-C; with '--json', a line each time."
    )
    var isOn = false
}
