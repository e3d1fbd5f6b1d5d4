internal import ArgumentParser

/// How long removed backups can come back.
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
