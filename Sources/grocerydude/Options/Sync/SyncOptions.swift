internal import ArgumentParser
internal import Operations

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

/// A command that exchanges stores which take part: it does nothing where the settings say so.
protocol ExchangingCommand: SyncingCommand {
    /// Does the command's work; something may be exchanged.
    func exchange(_ invocation: Invocation) async throws -> CommandResult
}

extension ExchangingCommand {
    func run(_ invocation: Invocation) async throws -> CommandResult {
        guard !invocation.profile.sync.isEnabled else { return try await exchange(invocation) }
        invocation.context.report(.note("nothing is exchanged: 'sync.enabled' is false"))
        try invocation.console.answer(SyncRunAnswer([], invocation))
        var result = CommandResult(.done)
        result.isUneventful = true
        return result
    }
}
