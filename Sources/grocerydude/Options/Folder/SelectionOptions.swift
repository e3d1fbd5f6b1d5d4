public import ArgumentParser
public import Operations

extension BackupSelection.Order: ExpressibleByArgument {}

/// Which backups to list, and in which order.
struct SelectionOptions: ParsableArguments {
    @Option(help: "The order: time (newest first), name (from A), or size (largest first).")
    var sort = BackupSelection.Order.time

    @Flag(help: "List in the opposite order.")
    var reverse = false

    @Option(
        help: ArgumentHelp(
            "Only those made since: 7d or 2y5m7d3h ago, or a date such as 2026-11-21.",
            valueName: "time"
        )
    )
    var since: SinceTime?

    @Option(
        name: .customLong("tag"),
        help: ArgumentHelp(
            "Only those that have all of these tags, comma between them; may be repeated.",
            valueName: "tags"
        )
    )
    var tags: [String] = []

    /// Whether nothing of it was asked for.
    var isPlain: Bool { sort == .time && !reverse && since == nil && tags.isEmpty }

    /// Returns the selection for a run.
    func selection(_ invocation: Invocation) -> BackupSelection {
        var selection = BackupSelection()
        selection.order = sort
        selection.isReversed = reverse
        selection.since = since?.date(now: invocation.now, in: invocation.timeZone)
        selection.tags = tags.map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        return selection
    }
}
