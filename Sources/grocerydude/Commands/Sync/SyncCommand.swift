internal import ArgumentParser

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "sync",
        "Keep stores in step with those of other machines, through a folder.",
        discussion: """
            The folder may be one that Dropbox or Syncthing brings to each machine, anything that rclone \
            reaches, or a USB stick. Applications need no change: they go on with their own stores.
            """,
        example: "grocerydude sync enable --container ~/Dropbox/Sync",
        "grocerydude sync",
        subcommands: [
            SyncEnableCommand.self, SyncRunCommand.self, SyncWatchCommand.self,
            SyncStatusCommand.self, SyncConflictsCommand.self, SyncMapCommand.self,
            SyncRejoinCommand.self, SyncSeedCommand.self, SyncForgetCommand.self,
            SyncDisableCommand.self,
        ],
        defaultSubcommand: SyncRunCommand.self
    )
}
