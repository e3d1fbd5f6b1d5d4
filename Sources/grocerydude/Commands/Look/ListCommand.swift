internal import Files
internal import Backups
internal import ArgumentParser
internal import Operations

struct ListCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "list",
        "List the backups, newest first.",
        example: "grocerydude list --remote /mnt/nas/backups"
    )

    @OptionGroup var folder: FolderOptions

    @Flag(help: "List the deleted backups that can come back.")
    var trash = false

    func run(_ invocation: Invocation) async throws -> CommandResult {
        if trash {
            let backups = try await invocation.folder().trashed()
            return try invocation.answer(backups.map { TrashRow($0, invocation) })
        }
        let (outcome, unreachable) = try await invocation.folder().listWithWaiting()
        try invocation.console.answer(outcome.backups.map { BackupRow($0, invocation) })
        if let error = outcome.annotationsError {
            invocation.context.report(.warning(explain(error)))
        }
        if output.level >= .verbose {
            if let error = outcome.logError {
                invocation.context.report(.warning("the log cannot be read: \(explain(error))"))
            }
            for file in outcome.passedOver {
                invocation.console.message("passed over '\(file.name)': \(file.reason)")
            }
        }
        if let unreachable { throw unreachable }
        return CommandResult(.done)
    }
}
