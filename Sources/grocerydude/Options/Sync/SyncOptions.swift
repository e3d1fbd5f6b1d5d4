internal import ArgumentParser

/// What all commands of sync have.
struct SyncOptions: ParsableArguments {
    @OptionGroup var stores: StoresOptions
    @OptionGroup var output: OutputOptions

    @Option(help: ArgumentHelp("How long to wait for another run: 60s, 5m, 1h.", valueName: "time"))
    var lockWait: WaitTime?

    var flags: [FlagValue?] { [FlagValue("--lock-wait", "lock_wait", lockWait?.text)] }
}

/// A command that is about stores that take part in groups.
protocol SyncingCommand: InvokedCommand {
    var sync: SyncOptions { get }

    /// The settings from the options of this command alone.
    var ownFlags: [FlagValue?] { get }
}

extension SyncingCommand {
    var stores: StoresOptions { sync.stores }
    var output: OutputOptions { sync.output }
    var flags: [FlagValue?] { sync.flags + ownFlags }
    var ownFlags: [FlagValue?] { [] }
}
