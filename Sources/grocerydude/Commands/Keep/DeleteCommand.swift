internal import Backups
internal import ArgumentParser
internal import Operations

struct DeleteCommand: InvokedCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a backup; it can come back for some days.",
        discussion: """
            'grocerydude undelete' brings it back; with '--keep-trash 0' it is gone for good. A pinned backup \
            must be unpinned first. Backups that were deleted before stay in the trash: only 'prune' removes \
            them from there, after the time that its own '--keep-trash' says.

            EXAMPLE
              grocerydude delete '[2026-Nov-21] 09.01 AM' --yes
            """
    )

    @Argument(help: "The backup's name, any unique part of it, or 'latest'.")
    var name: String

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var trash: TrashOptions
    @OptionGroup var output: OutputOptions

    @Flag(name: [.customShort("n"), .long], help: "Only show what would happen.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    var recovery: Recovery { .attempted }
    var flags: [FlagValue] { remote.flags + trash.flags }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let folder = try invocation.folder()
        let backup = try await folder.find(name, now: invocation.now)
        var problems: [Problem] = []
        if !dryRun {
            let question = "Delete '\(backup.displayName)' from '\(invocation.address)'?"
            guard try invocation.confirm(question, yes: yes) else { return .declined }
            problems = try await DeleteBackup(from: folder, context: invocation.context).run(
                backup,
                at: invocation.now,
                keepingTrash: invocation.profile.keepTrash
            )
        }
        try invocation.console.answer(DeleteAnswer(backup, isDryRun: dryRun))
        return CommandResult(problems: problems)
    }
}
