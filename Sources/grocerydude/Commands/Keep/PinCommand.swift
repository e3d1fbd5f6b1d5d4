internal import Backups
internal import ArgumentParser
internal import Operations

struct PinCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "pin",
        "Keep a backup whatever a policy says, until it is unpinned.",
        discussion:
            "The archive is not changed: pins, tags and notes are files beside it in the remote folder.",
        example: "grocerydude pin '[2026-Nov-21] 09.01 AM'",
        "grocerydude pin --off '[2026-Nov-21] 09.01 AM'"
    )

    @Argument(
        help: "The backup's name, any unique part of it, or 'latest'.",
        completion: NameCompletion.backups()
    )
    var name: String

    @Flag(help: "Unpin it: policies may remove it again.")
    var off = false

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let folder = try invocation.folder()
        let name = try await BackupChoice(in: folder, invocation).naming(name, toChange: true)
        let (backup, problems) = try await PinBackup(in: folder, context: invocation.context)
            .run(name, isPinned: !off, at: invocation.now)
        return try invocation.done(
            "\(off ? "unpinned" : "pinned") '\(backup.displayName)'",
            BackupRow(backup, invocation.origin, invocation).json,
            problems: problems
        )
    }
}
