internal import ArgumentParser
internal import Operations

/// The arguments of 'pin' and 'unpin'.
struct PinArguments: ParsableArguments {
    @Argument(help: "The backup's name, any unique part of it, or 'latest'.")
    var name: String

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var output: OutputOptions

    /// Pins or unpins the backup.
    func run(isPinned: Bool, _ invocation: Invocation) async throws -> CommandResult {
        let backup = try await PinBackup(
            in: invocation.folder(),
            context: invocation.context
        ).run(name, isPinned: isPinned, at: invocation.now)
        try invocation.console.answer(PinAnswer(row: BackupRow(backup, invocation)))
        return CommandResult(.done)
    }
}
