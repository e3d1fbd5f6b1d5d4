internal import ArgumentParser
internal import Operations

struct UndeleteCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        commandName: "undelete",
        abstract: "Bring back a backup that was deleted or pruned.",
        discussion: """
            'grocerydude list --trash' shows the backups that can come back. 'prune' may remove the backup again, unless it is pinned.

            EXAMPLE
              grocerydude undelete '[2026-Nov-21] 09.01 AM'
            """
    )

    @Argument(help: "The backup's name, or any unique part of it.")
    var name: String

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var output: OutputOptions

    var recovery: Recovery { .attempted }
    var flags: [FlagValue] { remote.flags }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let (backup, problems) = try await DeleteBackup(
            from: invocation.folder(),
            context: invocation.context
        ).undo(name)
        try invocation.console.answer(UndeleteAnswer(row: TrashRow(backup, invocation)))
        return CommandResult(problems: problems)
    }
}
