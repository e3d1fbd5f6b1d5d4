internal import Backups
internal import ArgumentParser
internal import Operations

struct UndeleteCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "undelete",
        "Bring back a backup that was deleted or pruned.",
        discussion: """
            The backups that an increment needs come back with it. 'grocerydude list --trash' shows the backups that can come back. 'prune' may remove the backup again, unless it is pinned.
            """,
        example: "grocerydude undelete '[2026-Nov-21] 09.01 AM'"
    )

    @Argument(help: "The backup's name, or any unique part of it.")
    var name: String

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let (backup, _, problems) = try await DeleteBackup(
            from: invocation.folder(),
            context: invocation.context
        ).undo(name)
        return try invocation.done(
            "'\(backup.displayName)' is back",
            TrashRow(backup: backup, invocation: invocation).json,
            problems: problems
        )
    }
}
