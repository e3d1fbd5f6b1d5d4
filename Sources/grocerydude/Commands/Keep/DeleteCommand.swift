internal import ArgumentParser
internal import Operations
internal import Remotes

struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a backup; it can come back for some days.",
        discussion: """
            'grocerydude undelete' brings it back; with '--keep-trash 0' it is gone for good. A pinned backup \
            must be unpinned first. What was deleted before stays in the trash, whatever '--keep-trash' says here: only \
            'prune' removes from there, what has been in it for longer than its own '--keep-trash'.

            EXAMPLE
              grocerydude delete '[2026-Nov-21] 09.01 AM' --yes

            \(ExitStatus.help)
            """
    )

    @Argument(help: "The backup's name, any unique part of it, or 'latest'.")
    var name: String

    @OptionGroup var stores: StoresOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var trash: TrashOptions
    @OptionGroup var output: OutputOptions

    @Flag(name: [.customShort("n"), .long], help: "Say what would happen, and do nothing.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    func run() async throws {
        try await Session.run(output, stores, remote, flags: trash.flags, needsWholeStores: false) {
            session in
            let folder = try session.remote()
            let delete = DeleteBackup(
                from: folder,
                catalog: session.catalog,
                timeZone: session.timeZone,
                context: session.context
            )
            let backup = try await delete.find(name, now: session.now)
            var problems: [Problem] = []
            if !dryRun {
                let question = "Delete '\(backup.displayName)' from '\(folder.address)'?"
                guard try session.confirm(question, yes: yes) else {
                    session.console.message("nothing was changed")
                    return .failed
                }
                problems = try await delete.run(
                    backup,
                    at: session.now,
                    keepingTrash: session.profile.keepTrash
                )
            }
            if output.json {
                try session.console.answer(json: Answer(name: backup.name, dryRun: dryRun))
            } else {
                let tell = dryRun ? session.console.answer : session.console.done
                tell("\(dryRun ? "would delete" : "deleted") '\(backup.displayName)'")
            }
            return problems.isEmpty ? .done : .partial
        }
    }

    /// The answer in JSON.
    private struct Answer: Encodable {
        var name: String
        var dryRun: Bool
    }
}
