internal import ArgumentParser
internal import Operations

/// The options of all sync commands.
struct SyncOptions: ParsableArguments {
    @OptionGroup var stores: StoresOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "How long to wait for another run: 60s, 5m, 1h.".value("time"))
    var lockWait: WaitTime?

    var flags: [FlagValue?] { [FlagValue("--lock-wait", "lock_wait", lockWait?.text)] }
}

/// A command for stores that take part in groups.
protocol SyncingCommand: InvokedCommand {
    var sync: SyncOptions { get }

    /// The settings from this command's own options.
    var ownFlags: [FlagValue?] { get }
}

extension SyncingCommand {
    var stores: StoresOptions { sync.stores }
    var output: OutputOptions { sync.output }
    var flags: [FlagValue?] { sync.flags + ownFlags }
    var ownFlags: [FlagValue?] { [] }
}

/// A command that exchanges stores; it does nothing if the settings disable exchanges.
protocol ExchangingCommand: SyncingCommand {
    /// Does the command's work; called only if exchanges are enabled.
    func exchange(_ invocation: Invocation) async throws -> CommandResult
}

extension ExchangingCommand {
    func run(_ invocation: Invocation) async throws -> CommandResult {
        guard !invocation.profile.sync.isEnabled else { return try await exchange(invocation) }
        invocation.context.note("nothing is exchanged: 'sync.enabled' is false")
        try invocation.console.answer(SyncRunAnswer([], invocation))
        var result = CommandResult(.done)
        result.isUneventful = true
        return result
    }
}
