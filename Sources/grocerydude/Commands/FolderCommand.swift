internal import ArgumentParser

/// A command that works with the backups in a folder.
protocol FolderCommand: InvokedCommand {
    var folder: FolderOptions { get }

    /// The settings from the options of this command alone.
    var ownFlags: [FlagValue?] { get }
}

/// Which stores directory, and which folder of backups.
struct FolderOptions: ParsableArguments {
    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var staging: StagingOptions
    @OptionGroup var keys: KeyOptions
    @OptionGroup var output: OutputOptions
}

extension FolderCommand {
    var stores: StoresOptions { folder.stores }
    var output: OutputOptions { folder.output }
    var flags: [FlagValue?] {
        folder.remote.flags + folder.staging.flags + folder.keys.flags + ownFlags
    }
    var ownFlags: [FlagValue?] { [] }
    var recovery: Recovery { .attempted }
}
