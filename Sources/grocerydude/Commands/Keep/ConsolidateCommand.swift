internal import ArgumentParser
internal import Backups
internal import Operations

struct ConsolidateCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "consolidate",
        "Turn an increment into a full backup, from the archives alone.",
        discussion: """
            The full backup has the increment's time and content, and replaces it, also for backups that are \
            built on it. It is verified before the increment moves to the trash.
            """,
        example: "grocerydude consolidate latest"
    )

    @Argument(
        help: "The increment's name, any unique part of it, or 'latest'.",
        completion: NameCompletion.backups()
    )
    var name: String

    @OptionGroup var recipients: RecipientOptions
    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    var ownFlags: [FlagValue?] { recipients.flags }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        var options = ConsolidateBackup.Options(date: invocation.now, tool: invocation.tool)
        options.compression = invocation.profile.compression
        options.keepsTrash = invocation.profile.keepTrash
        let folder = try invocation.folder()
        let outcome = try await ConsolidateBackup(
            in: folder,
            options: options,
            context: invocation.context
        ).run(BackupChoice(in: folder, invocation).naming(name, toChange: true))
        return try invocation.answer(
            ConsolidateAnswer(outcome: outcome),
            problems: outcome.problems
        )
    }
}
