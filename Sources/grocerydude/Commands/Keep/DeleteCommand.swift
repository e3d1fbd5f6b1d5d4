internal import Backups
internal import ArgumentParser
internal import Operations

struct DeleteCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "delete",
        "Delete a backup; it can come back for some days.",
        discussion: """
            'grocerydude undelete' brings it back; with '--keep-trash 0' it is gone for good, unless \
            increments may be built on it: such a backup stays a day. A pinned backup \
            must be unpinned first. Backups that were deleted before stay in the trash: only 'prune' removes \
            them from there, after the time that its own '--keep-trash' says.
            """,
        example: "grocerydude delete '[2026-Nov-21] 09.01 AM' --yes"
    )

    @Argument(help: "The backup's name, any unique part of it, or 'latest'.")
    var name: String

    @OptionGroup var folder: FolderOptions
    @OptionGroup var trash: TrashOptions

    @Flag(name: [.customShort("n"), .long], help: "Only show what would happen.")
    var dryRun = false

    @Flag(help: "Delete also the increments that cannot be restored without it.")
    var withDependants = false

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    var ownFlags: [FlagValue?] { trash.flags }

    private struct Facts: Encodable {
        var name: String
        var dryRun: Bool
    }

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let folder = try invocation.folder()
        let (backup, unreachable) = try await folder.findWithWaiting(name, now: invocation.now)
        if let unreachable { invocation.context.warnOfUnknown(unreachable) }
        var problems: [Problem] = []
        if !dryRun {
            let question =
                backup.isWaiting
                ? "Delete '\(backup.displayName)', which waits for upload, for good?"
                : "Delete '\(backup.displayName)' from '\(invocation.address)'?"
            guard try invocation.confirm(question, yes: yes) else { return .declined }
            problems = try await DeleteBackup(from: folder, context: invocation.context).run(
                backup,
                at: invocation.now,
                keepingTrash: invocation.profile.keepTrash,
                withDependants: withDependants
            )
        }
        let facts = Facts(name: backup.name, dryRun: dryRun)
        let line = "\(dryRun ? "would delete" : "deleted") '\(backup.displayName)'"
        return try invocation.answer(
            DoneAnswer(facts: facts, line: line, isDryRun: dryRun),
            problems: problems
        )
    }
}
