internal import Backups
internal import ArgumentParser
internal import Files
internal import Operations

struct DeleteCommand: FolderCommand {
    static let configuration = CommandConfiguration(
        "delete",
        "Delete a backup; it can come back for some days.",
        discussion: """
            'grocerydude undelete' brings it back; with '--set retention.keep_trash=0' it is gone for good, unless \
            increments may be built on it: such a backup stays a day. A pinned backup \
            must be unpinned first. Backups that were deleted before stay in the trash: only 'prune' removes \
            them from there, after the time in the setting 'retention.keep_trash'.
            """,
        example: "grocerydude delete '[2026-Nov-21] 09.01 AM' --yes"
    )

    @Argument(
        help: "The backup's name, any unique part of it, or 'latest'.",
        completion: NameCompletion.backups()
    )
    var name: String

    @OptionGroup(title: HelpSection.common) var folder: FolderOptions

    @Flag(name: [.customShort("n"), .long], help: "Only show what would happen.")
    var dryRun = false

    @Flag(help: "Delete also the increments that cannot be restored without it.")
    var withDependants = false

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    func run(_ invocation: Invocation) async throws -> CommandResult {
        let folder = try invocation.folder()
        let backup = try await BackupChoice(in: folder, invocation).find(name, toChange: true)
        let delete = DeleteBackup(from: folder, context: invocation.context)
        // The user confirms exactly these backups.
        let planned =
            yes && !dryRun
            ? nil
            : try await delete.plan(
                backup,
                keepingTrash: invocation.profile.keepTrash,
                withDependants: withDependants
            )
        var all = planned ?? [backup]
        var problems: [Problem] = []
        if !dryRun {
            let place = backup.isWaiting ? ", which waits for upload" : ""
            let end = backup.isWaiting ? ", for good?" : " from '\(invocation.address)'?"
            let question = "Delete '\(backup.displayName)'\(place)\(Self.rest(all))\(end)"
            guard try invocation.confirm(question, yes: yes) else { return .declined }
            let outcome = try await delete.run(
                backup,
                at: invocation.now,
                keepingTrash: invocation.profile.keepTrash,
                withDependants: withDependants,
                agreed: planned
            )
            (all, problems) = (outcome.backups, outcome.problems)
        }
        let facts: JSONObject = [
            "name": backup.name, "dependants": all.dropLast().map(\.name), "dryRun": dryRun,
        ]
        let done = dryRun ? "would delete" : "deleted"
        let line = "\(done) '\(backup.displayName)'\(Self.rest(all))"
        return try invocation.done(line, facts, isDryRun: dryRun, problems: problems)
    }

    /// Returns the text about the backups to be deleted along with the last one of the list.
    private static func rest(_ all: [Backup]) -> String {
        guard all.count > 1 else { return "" }
        let names = all.dropLast().map { "'\($0.displayName)'" }.joined(separator: ", ")
        return
            " and \(counted(all.count - 1, "backup that needs", "backups that need")) it: \(names)"
    }
}
