internal import Files
internal import Backups
internal import ArgumentParser
internal import Operations

struct ListCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the backups, newest first.",
        discussion: """
            EXAMPLE
              grocerydude list --remote /mnt/nas/backups
            """
    )

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "List the deleted backups that can come back.")
    var trash = false

    var recovery: Recovery { .attempted }
    var flags: [FlagValue] { remote.flags }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        if trash { return try await listTrash(invocation) }
        let outcome = try await invocation.folder().list()
        try invocation.console.answer(outcome.backups.map { BackupRow($0, invocation) })
        if let error = outcome.annotationsError {
            invocation.context.report(.warning(explain(error)))
        }
        if output.verbose {
            if let error = outcome.logError {
                invocation.context.report(.warning("the log cannot be read: \(explain(error))"))
            }
            for file in outcome.passedOver {
                invocation.console.message("passed over '\(file.name)': \(file.reason)")
            }
        }
        return CommandResult(.done)
    }

    private func listTrash(_ invocation: Invocation) async throws -> CommandResult {
        let backups = try await invocation.folder().trashed()
        try invocation.console.answer(backups.map { TrashRow($0, invocation) })
        return CommandResult(.done)
    }
}
