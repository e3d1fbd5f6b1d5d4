internal import ArgumentParser

/// The option for the remote folder.
struct RemoteOptions: ParsableArguments {
    @Option(
        name: .customLong("remote"),
        help:
            "The folder that backups are in: a directory, or 'rclone:REMOTE:PATH'; else GROCERYDUDE_REMOTE, else the profile's."
            .value("folder"),
        completion: .directory
    )
    var address: String?

    @Option(help: "How long to wait for another run: 60s, 5m, 1h.".value("time"))
    var lockWait: WaitTime?

    var flags: [FlagValue?] {
        [
            FlagValue("--remote", "remote", address),
            FlagValue("--lock-wait", "lock_wait", lockWait?.text),
        ]
    }
}
